// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

// The median device is a phone of the middle class. It computes about this fast when it trains, far
// below what its processor could do with all cores cool; its mobile network carries about 8 Mbit/s;
// and it takes about two watts while it does either. With these a local epoch of a small network on
// some hundred samples takes seconds, about as long as sending a model of a megabyte.
inline constexpr double kMedianFlopsPerSecond = 1e9;
inline constexpr double kMedianBytesPerSecond = 1e6;
inline constexpr double kMedianWatts = 2;

struct WorldOptions {
  double dropout = 0;              ///< chance that a chosen client never answers
  std::optional<double> deadline;  ///< simulated seconds after which a round is closed
  /// Rounds that an update which missed the deadline may be late; 0: it is lost.
  std::uint32_t staleness = 0;
  /// Simulated seconds that a model may take on its way to the client that aggregates; one that
  /// takes longer is lost.
  std::optional<double> round_timeout = std::nullopt;
};

/// What one sample and one model are, to the world.
struct Workload {
  double flops_per_sample = 0;  ///< forward and backward
  std::uint64_t model_bytes = 0;
};

/// A client in one round.
struct Condition {
  double speed = 1;        ///< relative to the median client
  double channel = 1;      ///< likewise
  std::uint32_t tier = 0;  ///< 0 slow, 1 middle, 2 fast
  double seconds = 0;      ///< training and transfer there and back
  double energy = 0;       ///< joules of the same
};

/// What becomes of an update.
struct Fate {
  bool arrives = true;
  std::uint32_t late = 0;  ///< rounds after its own
};

/// Code::bad_input where an option is out of its range.
base::Status check(const WorldOptions& options);

/// Devices and networks, simulated: the same for every selection method, because its random numbers
/// are its own. Not thread-safe.
///
/// Speeds and watts are lognormal (sigma 0.5, between a tenth and ten times the median; and 0.3)
/// and stay as they are; tiers are the thirds of the clients by speed. A channel begins between 0.5
/// and 1.5 and walks by up to 0.05 a round, between 0.25 and 1.75. A training takes the
/// samples it visits * flops_per_sample at the client's speed and twice model_bytes over its
/// channel; its energy is the device's watts for so long.
class World {
 public:
  /// `visited`: samples that each client trains on in a round. Code::bad_input where an option is
  /// out of its range.
  static base::Result<World> create(const WorldOptions& options, const Workload& workload,
                                    std::span<const std::uint64_t> visited, std::uint64_t seed);

  /// What it keeps of a client.
  static constexpr std::size_t kBytesPerClient = 32;

  /// Goes to `round`, from wherever it is: a resumed run meets the same world.
  void move_to(std::uint32_t round);

  Condition condition(std::uint32_t client) const;
  /// What becomes of the update of a client that is chosen in this round. A dropped client never
  /// answers. An update that misses the deadline counts in the first later round whose deadline it
  /// meets, if every round takes its full time, and is lost if that is more than `staleness` rounds
  /// later. One whose model takes longer than the round timeout on its way back is lost too.
  Fate fate(std::uint32_t client) const;
  /// Simulated seconds until the round with this cohort is over: as long as its slowest client that
  /// answers, but at most the deadline. If nobody answers, the deadline, or 0 without one.
  double round_seconds(std::span<const std::uint32_t> cohort) const;

 private:
  struct Device {
    double speed = 1;
    double watts = 1;
    double channel = 1;
    std::uint64_t tier : 2 = 0;
    std::uint64_t visited : 62 = 0;
  };

  static_assert(sizeof(Device) == kBytesPerClient);

  World(const WorldOptions& options, const Workload& workload, std::uint64_t seed)
      : options_(options), workload_(workload), seed_(seed) {}

  void start_channels();
  bool drops_out(std::uint32_t client) const;
  double transfer_of(const Device& device) const;
  double seconds_of(const Device& device) const;

  WorldOptions options_;
  Workload workload_;
  std::uint64_t seed_;
  std::uint32_t round_ = 0;
  std::vector<Device> devices_;
};

}  // namespace ebb::fl
