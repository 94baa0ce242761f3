// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

struct WorldOptions {
  double dropout = 0;              ///< chance that a chosen client never answers
  std::optional<double> deadline;  ///< simulated seconds after which a round is closed
  /// Rounds that an update which missed the deadline may be late; 0: it is lost.
  std::uint32_t staleness = 0;
};

/// What one local training is, to the world.
struct Workload {
  double flops_per_sample = 0;  ///< forward and backward
  std::uint64_t model_bytes = 0;
  std::uint32_t epochs = 1;
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

/// Devices and networks, simulated: the same for every selection method, because its random numbers
/// are its own. Not thread-safe.
class World {
 public:
  /// `samples` of each client. Code::bad_input where an option is out of its range.
  static base::Result<World> create(const WorldOptions& options, const Workload& workload,
                                    std::span<const std::uint32_t> samples, std::uint64_t seed);

  /// Goes to `round`, from wherever it is: a resumed run meets the same world.
  void move_to(std::uint32_t round);

  Condition condition(std::uint32_t client) const;
  /// Of the update of a client that is chosen in this round.
  Fate fate(std::uint32_t client) const;
  /// Simulated seconds until the round with this cohort is over: its slowest client that answers,
  /// the deadline at the most.
  double round_seconds(std::span<const std::uint32_t> cohort) const;

 private:
  struct Device {
    double speed = 1;
    double watts = 1;
    double channel = 1;
    std::uint32_t samples = 0;
  };

  World(const WorldOptions& options, const Workload& workload, std::uint64_t seed)
      : options_(options), workload_(workload), seed_(seed) {}

  WorldOptions options_;
  Workload workload_;
  std::uint64_t seed_;
  std::uint32_t round_ = 0;
  std::vector<Device> devices_;
};

}  // namespace ebb::fl
