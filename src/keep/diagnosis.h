// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "trend/series.h"

namespace ebb::keep {

/// What a process's memory does over time. In order of precedence.
enum class Verdict : std::uint8_t {
  leak,           ///< what is live grows
  retention,      ///< the allocator keeps ever more that a cleanup could return
  fragmentation,  ///< and cannot return it: survivors hold the pages
  foreign,        ///< it grows, but not in the allocator: mappings of a library's own
  file_cache,     ///< mapped files or shared memory grow
  healthy,
  not_enough_data,
};
inline constexpr std::size_t kVerdicts = 7;

/// "leak", "retention", …
const char* name_of(Verdict verdict);
std::optional<Verdict> verdict_of(std::string_view name);

/// What cleanups of one process came to.
struct CleanupSum {
  std::uint64_t count = 0;
  std::uint64_t returned = 0;  ///< in all
  std::uint64_t typical = 0;   ///< median of what one returned
  double cost_seconds = 0;     ///< in all
};

/// What is known of one process over time, in bytes. Empty series are unknown; from outside a
/// process live, retained and what follows cleanups always are.
struct MemorySeries {
  std::span<const trend::Point> rss{};
  std::span<const trend::Point> anon{};   ///< with what of it was swapped out
  std::span<const trend::Point> peaks{};  ///< the highest anon, where `anon` holds only the lowest
  std::span<const trend::Point> file{};   ///< resident pages of mapped files
  std::span<const trend::Point> shmem{};  ///< resident pages of shared memory
  std::span<const trend::Point> live{};
  std::span<const trend::Point> retained{};
  std::span<const trend::Point> after_cleanup{};  ///< anon right after each cleanup
  std::span<const trend::Point> live_after{};     ///< live right after each cleanup
  std::span<const trend::Point> retained_after{};
  std::span<const trend::Point> children{};  ///< rss of all processes it started
  std::span<const double> round_ends{};      ///< seconds; none: rounds are looked for
  std::optional<std::uint64_t> room{};       ///< bytes left below the limit now
  CleanupSum cleanups{};
};

struct Diagnosis {
  Verdict verdict = Verdict::not_enough_data;
  std::vector<Verdict> also;
  std::string confidence = "low";     ///< high, medium or low
  std::string headline;               ///< one sentence
  std::vector<std::string> findings;  ///< what it rests on and what is not known, a line each
  base::Json evidence;                ///< the numbers; keys in docs/watch.md
  double pace = 0;                    ///< bytes per second by which it grows, as the verdict says
  std::string rss_slope = "unknown";  ///< "+1.5 MiB/h (95 %: +1.4 MiB to +1.6 MiB)"
  std::string fix_kind = "none";      ///< none, probe, cleanup, settings, code or time
  std::string fix;                    ///< one sentence; empty where nothing is to do
};

/// The verdict that the series allow, and no more. Where live bytes are known they tell a leak from
/// what the allocator keeps, and retained bytes tell that from memory which is not the allocator's
/// (Python's small objects). Where they are not, what cleanups leave behind tells a leak from
/// retention, with low confidence; growth seen only from outside is called a leak, likewise.
Diagnosis diagnose(const MemorySeries& series);

/// In doctor's shape: verdict, also, confidence, headline, findings, evidence, fix.
base::Json to_json(const Diagnosis& diagnosis);

}  // namespace ebb::keep
