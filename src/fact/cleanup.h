// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/device_change.h"
#include "base/json.h"
#include "base/result.h"
#include "fact/process_sample.h"

namespace ebb::fact {

/// Why a cleanup happened. The names are in records, the numbers of the first seven on the wire.
enum class Trigger : std::uint32_t {
  round,     ///< the job announced the end of a round
  retained,  ///< the allocator kept much, for a while
  growth,    ///< rss grew where nobody can tell what is retained
  critical,  ///< memory is at the critical threshold
  pressure,  ///< tasks waited for memory
  job,       ///< the job asked for it itself
  card,      ///< a card is full, or its headroom is gone: only device caches were emptied
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
  /// Memory of devices that it gave back; not part of `returned`. By device, each once.
  std::vector<base::DeviceChange> devices{};

  bool operator==(const Cleanup&) const = default;

  /// Sets `returned` to what rss fell by.
  void count_returned();

  /// Adds what happened to a device, after what is known of it.
  void add(const base::DeviceChange& change);
};

/// Adds the change of one cleanup to those of several: the highest before, the lowest after, and
/// what was returned in all.
void add_up(std::vector<base::DeviceChange>& devices, const base::DeviceChange& change);

/// By all of them together.
std::uint64_t returned_by(const std::vector<base::DeviceChange>& devices);

/// A list of objects: device, before_bytes, after_bytes, returned_bytes.
base::Json devices_json(const std::vector<base::DeviceChange>& devices);

/// What such a list says, as far as it can be read.
std::vector<base::DeviceChange> devices_from(const base::Json& list);

/// "20.2 MiB", and "20.2 MiB and 20.0 GiB of GPU 0" where devices returned something.
std::string returned_text(std::uint64_t returned, const std::vector<base::DeviceChange>& devices);

}  // namespace ebb::fact
