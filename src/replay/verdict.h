// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ebb::replay {

/// Why a job needs more memory than it should, or ran out of it. In order of precedence, but for
/// self_limit, which is the last of the reasons to run out, and leak, which is the first of the
/// reasons to hold too much.
enum class Verdict : std::uint8_t {
  capacity,        ///< what is live does not fit
  fragmentation,   ///< enough is free, in pieces
  rounding,        ///< requests rounded up
  oversize,        ///< blocks above max_split_size_mb handed out whole
  deferred_frees,  ///< freed, but other streams still use it
  private_pools,   ///< free, but only for the pool of a graph or of the job's own
  self_limit,      ///< the device had more: the job limited itself
  cache,           ///< free as a whole: empty_cache would return it
  leak,            ///< live bytes rise from step to step
  healthy,
};
inline constexpr std::size_t kVerdicts = 10;

/// "capacity", "fragmentation", …
const char* name_of(Verdict verdict);
std::optional<Verdict> verdict_of(std::string_view name);

/// The verdict as a sentence; `bytes` is what it is about.
std::string headline_of(Verdict verdict, std::uint64_t bytes);

}  // namespace ebb::replay
