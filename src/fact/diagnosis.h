// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace ebb::fact {

// What was found wrong with memory, of whatever it was found: plain data, which whoever finds it
// fills in and whoever shows it reads.

/// What is wrong. Of two processes with different verdicts, the one that comes first here is worse.
enum class Verdict : std::uint8_t {
  capacity,       ///< what is live does not fit
  leak,           ///< what is live grows
  retention,      ///< the allocator keeps ever more that a cleanup could return
  fragmentation,  ///< it cannot return or use what is free: it is in pieces between live blocks
  /// An allocator that a library brings for its own use keeps what was freed.
  private_allocator,
  foreign,         ///< it grows, but not in the allocator: mappings of a library's own
  copy_on_write,   ///< forked workers copy the pages that they shared
  file_cache,      ///< mapped files or shared memory grow
  rounding,        ///< requests rounded up
  oversize,        ///< blocks above max_split_size_mb handed out whole
  deferred_frees,  ///< freed, but other streams still use it
  private_pools,   ///< free, but only for the pool of a graph or of the job's own
  self_limit,      ///< the device had more: the job limited itself
  other_process,   ///< it would fit, but others hold memory of the device
  empty_cache,     ///< the job gives its cache back in its inner loop and needs it again
  cache,           ///< free as a whole: empty_cache would return it
  healthy,
  not_enough_data,
};

/// What can be found of a process or a run, which are watched over time.
inline constexpr std::array kProcessVerdicts{Verdict::leak,           Verdict::retention,
                                             Verdict::fragmentation,  Verdict::private_allocator,
                                             Verdict::foreign,        Verdict::copy_on_write,
                                             Verdict::file_cache,     Verdict::healthy,
                                             Verdict::not_enough_data};
/// What can be found of a snapshot, which tells every request that a job made of its device.
inline constexpr std::array kSnapshotVerdicts{
    Verdict::capacity,       Verdict::fragmentation, Verdict::rounding,   Verdict::oversize,
    Verdict::deferred_frees, Verdict::private_pools, Verdict::self_limit, Verdict::other_process,
    Verdict::empty_cache,    Verdict::cache,         Verdict::leak,       Verdict::healthy};

enum class Confidence : std::uint8_t { low, medium, high };

enum class FixKind : std::uint8_t {
  none,
  probe,     ///< an experiment that would settle the question
  cleanup,   ///< have memory returned now and then
  settings,  ///< of the allocator
  limit,     ///< raise the one that the job is held to
  memory,    ///< there has to be more
  code,      ///< the program itself
  time,      ///< look longer
};

/// "leak", "retention", …
const char* name_of(Verdict verdict);
const char* name_of(Confidence confidence);
const char* name_of(FixKind kind);

/// The verdict of that name, where it is one of these.
std::optional<Verdict> verdict_of(std::string_view name, std::span<const Verdict> among);

/// The smallest change that helps.
struct Fix {
  FixKind kind = FixKind::none;
  std::string text;                 ///< one sentence; empty where nothing is to do
  std::optional<std::string> conf;  ///< the settings of PyTorch's allocator that it takes
  std::uint64_t bytes = 0;          ///< the limit that is enough, where it is about one
};

struct Diagnosis {
  Verdict verdict = Verdict::not_enough_data;
  std::vector<Verdict> also;
  Confidence confidence = Confidence::low;
  std::string headline;               ///< one sentence
  std::vector<std::string> findings;  ///< what it rests on and what is not known, a line each
  base::Json evidence;                ///< the numbers: docs/watch.md, docs/doctor.md
  Fix fix;
};

/// The keys that every diagnosis has: verdict, also, confidence, headline, findings, evidence, fix.
base::Json to_json(const Diagnosis& diagnosis);

}  // namespace ebb::fact
