// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "fact/process_sample.h"

namespace ebb::fact {

/// Why a cleanup happened. The names are in records, the numbers of the first six on the wire.
enum class Trigger : std::uint32_t {
  round,     ///< the job announced the end of a round
  retained,  ///< the allocator kept much, for a while
  growth,    ///< rss grew where nobody can tell what is retained
  critical,  ///< memory is at the critical threshold
  pressure,  ///< tasks waited for memory
  job,       ///< the job asked for it itself
  several,   ///< of cleanups that were merged
  unknown,   ///< a record names one that this Ebb does not know
};

/// "round", "retained", …
const char* name_of(Trigger trigger);

/// Code::bad_input for a name that none has.
base::Result<Trigger> trigger_from(std::string_view name);

/// How far a give-back goes.
enum class Depth : std::uint8_t {
  light,  ///< the allocator's own call
  deep,   ///< all that can be reached from outside, at whatever lasting side effect (told in notes)
};

/// "light", "deep".
const char* name_of(Depth depth);

/// What one cleanup came to in one process.
struct Cleanup {
  ProcessSample before;
  ProcessSample after;
  std::uint64_t returned = 0;  ///< rss that went back to the system; 0 when it grew meanwhile
  double seconds = 0;          ///< CPU time where a thread beside the job's cleaned, else all time
  Depth depth = Depth::light;
  Trigger trigger = Trigger::job;
  /// The job's language was to collect its garbage first and did not in time: what is left may
  /// hold some.
  bool missed_garbage = false;

  bool operator==(const Cleanup&) const = default;

  /// Sets `returned` to what rss fell by.
  void count_returned();
};

}  // namespace ebb::fact
