// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "fact/site.h"
#include "replay/doctor/place_growth.h"
#include "replay/workload.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// The moment at which it is looked at what a device holds.
enum class HeldAt : std::uint8_t { failure, peak, end };
const char* name_of(HeldAt at);

/// Live blocks, in multiples of 512 bytes.
struct HeldBlocks {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

/// A line of a program that holds memory of a device, however it was called.
struct DeviceSite {
  fact::SiteStack frames;  ///< the calls that all of its stacks share; innermost first, never empty
  bool has_other_callers = false;  ///< beyond those frames its stacks differ
  HeldBlocks held;
  double share = 0;             ///< of all that is live then, 0 to 1
  std::optional<double> since;  ///< seconds of the history when it first allocated; 0: before that
  std::optional<StepGrowth> growth;
};

/// What one stack of calls held over time, or all together that is none of these.
struct DeviceHolder {
  enum class Kind : std::uint8_t { place, smaller_places, no_stack, before_history };
  Kind kind = Kind::place;
  fact::SiteStack frames;                ///< of a place: all of its calls, innermost first
  std::uint64_t bytes = 0;               ///< at the moment that DeviceSites is about
  double per_step = 0;                   ///< bytes by which it grows, where its line does
  std::vector<std::uint64_t> over_time;  ///< at each of DeviceSites::moments
};

/// Who holds the memory of a device, by line of the program: PyTorch wrote down every block, with
/// its stack where it was asked to.
struct DeviceSites {
  bool has_stacks = false;  ///< of any block
  HeldAt at = HeldAt::end;
  HeldBlocks live;
  HeldBlocks no_stack;  ///< of these, recorded without a stack
  HeldBlocks
      before_history;  ///< of these, allocated before the history, and without a stack as well
  /// Those that grow or hold at least 1 MiB and 1 % of what is live; the largest growth first.
  std::vector<DeviceSite> sites;
  std::optional<double> step_seconds;  ///< how long a step takes; nothing without times or steps

  /// Allocations and frees before each of a few moments, ascending: at the beginnings of steps
  /// where there are any. Fewer than two say nothing.
  std::vector<std::uint64_t> moments;
  /// All that held anything at that moment or at one of these; few of the stacks by themselves.
  std::vector<DeviceHolder> holders;

  /// Where most of the growth is, whoever called it; nothing where no place grows.
  struct GrowingPlace {
    std::string text;
    double per_step = 0;
    double share = 0;
  };
  std::optional<GrowingPlace> growing_place() const;
};

/// Of what is live just after an operation; of a job that holds nothing, nothing.
DeviceSites device_sites(const trace::Snapshot& snapshot, int device, const Workload& workload,
                         HeldAt at, std::uint32_t operation);

/// The keys `sites` and `live` (docs/doctor.md).
void add_json(base::Json& json, const DeviceSites& sites);

}  // namespace ebb::replay
