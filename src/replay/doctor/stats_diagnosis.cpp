// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/stats_diagnosis.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <limits>

#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "replay/doctor/worthwhile.h"

namespace ebb::replay {
namespace {

using base::bytes_text;
using base::Code;
using base::format_text;
using fact::Confidence;
using fact::FixKind;
using fact::Verdict;
using ull = unsigned long long;

/// Fewer calls of empty_cache, or fewer peaks taken again, are no loop.
constexpr std::uint64_t kCallsOfALoop = 4;
constexpr std::uint64_t kPeaksOfALoop = 2;
constexpr std::size_t kLargestStats = 16 << 20;

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return {};
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Numbers by their dotted names, also where every dot is an object of its own.
class Numbers {
 public:
  Numbers(const base::Json& stats, const std::string& name) : stats_(stats), name_(name) {}

  base::Result<std::optional<std::uint64_t>> find(std::string_view key) const {
    const base::Json* found = stats_.find(key);
    if (found == nullptr) found = nested(key);
    if (found == nullptr || found->is_null()) return std::optional<std::uint64_t>();
    const auto number = found->as_unsigned();
    // So that no sum of them wraps.
    if (!number || *number > std::numeric_limits<std::uint64_t>::max() / 8)
      return base::error(Code::bad_input, "%s: '%s' is %s, expected a whole number from 0",
                         name_.c_str(), std::string(key).c_str(),
                         found->text().substr(0, 60).c_str());
    return number;
  }

  base::Result<std::uint64_t> get(std::string_view key) const {
    const auto number = find(key);
    if (!number) return number.error();
    if (!*number)
      return base::error(Code::bad_input,
                         "%s: no '%s': expected what torch.cuda.memory_stats() returns, as JSON",
                         name_.c_str(), std::string(key).c_str());
    return **number;
  }

 private:
  const base::Json* nested(std::string_view key) const {
    const base::Json* at = &stats_;
    while (at != nullptr) {
      const std::size_t dot = key.find('.');
      at = at->find(key.substr(0, dot));
      if (dot == std::string_view::npos) return at;
      key.remove_prefix(dot + 1);
    }
    return nullptr;
  }

  const base::Json& stats_;
  const std::string& name_;
};

struct Part {
  Verdict verdict;
  std::uint64_t bytes;
};

/// What keeps reserved memory from being used, most telling first.
std::vector<Part> parts_to_act_on(const StatsReading& stats) {
  std::vector<Part> parts = {{Verdict::fragmentation, stats.inactive_split},
                             {Verdict::rounding, stats.rounding()},
                             {Verdict::deferred_frees, stats.pending()}};
  std::erase_if(parts,
                [&](const Part& part) { return !is_worthwhile(part.bytes, stats.reserved); });
  return parts;
}

bool empties_in_a_loop(const StatsReading& stats) {
  return stats.empty_cache_calls.value_or(0) >= kCallsOfALoop && stats.peak_reserved > 0 &&
         stats.retaken >= kPeaksOfALoop * stats.peak_reserved;
}

void find_all(StatsDiagnosis& diagnosis) {
  const StatsReading& stats = diagnosis.stats;
  std::vector<std::string>& findings = diagnosis.findings;
  if (const auto used = stats.utilization_percent())
    findings.push_back(format_text("%s reserved, %.1f %% of it allocated",
                                   bytes_text(stats.reserved).c_str(), *used));
  if (const auto used = stats.peak_utilization_percent())
    findings.push_back(format_text("at their peaks %s reserved and %s allocated, %.1f %%",
                                   bytes_text(stats.peak_reserved).c_str(),
                                   bytes_text(stats.peak_allocated).c_str(), *used));
  const auto find = [&](std::uint64_t bytes, const char* what) {
    if (bytes > 0) findings.push_back(bytes_text(bytes) + " " + what);
  };
  find(stats.inactive_split, "in inactive splits: free in pieces beside live blocks");
  find(stats.pending(), "freed and waiting for other streams");
  find(stats.rounding(), "more than requested, by rounding");
  find(stats.cached(), "free in the cache, for the next requests");
  if (stats.inactive_split == 0 && is_worthwhile(stats.cached(), stats.reserved))
    findings.push_back("no inactive splits: under expandable segments PyTorch does not count them");
  findings.push_back(stats.retries == 0
                         ? "no request had to be tried again"
                         : format_text("retries: %llu, each of which gave all cached memory back "
                                       "and waited for the device",
                                       ull{stats.retries}));
  if (stats.ooms > 0)
    findings.push_back(format_text("requests that found no memory at all: %llu", ull{stats.ooms}));
  if (stats.empty_cache_calls.value_or(0) > 0)
    findings.push_back(
        format_text("empty_cache was called about %llu times; %s were taken from "
                    "the device again after they had been given back",
                    ull{*stats.empty_cache_calls}, bytes_text(stats.retaken).c_str()));
}

void decide(StatsDiagnosis& diagnosis, Verdict verdict, std::string headline, FixKind kind,
            std::string fix) {
  diagnosis.verdict = verdict;
  diagnosis.headline = std::move(headline);
  diagnosis.fix.kind = kind;
  diagnosis.fix.text = std::move(fix);
}

void decide_for(StatsDiagnosis& diagnosis, const Part& part) {
  const std::string amount = bytes_text(part.bytes);
  switch (part.verdict) {
    case Verdict::rounding:
      return decide(diagnosis, part.verdict, amount + " went into rounding requests up",
                    FixKind::settings,
                    "Take roundup_power2_divisions away or make it finer; ebb tune on a snapshot "
                    "says which");
    case Verdict::deferred_frees:
      return decide(diagnosis, part.verdict,
                    amount + " were freed, but other streams still use them", FixKind::code,
                    "Free on the stream that used the memory last, or wait for it before asking "
                    "for more");
    default:
      decide(diagnosis, Verdict::fragmentation,
             amount + " were reserved and could not be used: free in pieces beside live blocks",
             FixKind::settings,
             "Try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; ebb tune on a snapshot says "
             "what it would save");
      diagnosis.fix.conf = "expandable_segments:True";
  }
}

void decide_without_parts(StatsDiagnosis& diagnosis) {
  const StatsReading& stats = diagnosis.stats;
  const bool is_short = stats.retries > 0 || stats.ooms > 0;
  const std::uint64_t above =
      stats.peak_reserved - std::min(stats.peak_reserved, stats.peak_allocated);
  const bool is_wide = is_worthwhile(above, stats.peak_reserved);
  const bool is_looping = empties_in_a_loop(stats);
  if (is_wide && (is_short || !is_looping)) {
    // The two peaks may have been at different moments.
    diagnosis.confidence = Confidence::low;
    return decide_for(diagnosis, {Verdict::fragmentation, above});
  }
  if (is_short) {
    diagnosis.confidence = Confidence::low;
    return decide(diagnosis, Verdict::capacity,
                  "What is allocated fills what there is: " + bytes_text(stats.peak_allocated) +
                      " of " + bytes_text(stats.peak_reserved) + " at the peak",
                  FixKind::memory,
                  "Keep less memory alive or use a larger card; ebb doctor on a snapshot says how "
                  "much is missing");
  }
  if (is_looping)
    return decide(diagnosis, Verdict::empty_cache,
                  "empty_cache is called again and again: " + bytes_text(stats.retaken) +
                      " were given back and taken from the device again",
                  FixKind::code,
                  "Take empty_cache() out of the loop: PyTorch reuses its cache by itself");
  decide(diagnosis, Verdict::healthy,
         "Nothing to act on: " + bytes_text(stats.reserved - stats.allocated) +
             " above what is allocated",
         FixKind::none, "");
}

base::Json evidence_of(const StatsReading& stats) {
  return base::Json::object({{"kind", "stats"},
                             {"allocated_bytes", stats.allocated},
                             {"active_bytes", stats.active},
                             {"reserved_bytes", stats.reserved},
                             {"requested_bytes", stats.requested},
                             {"peak_allocated_bytes", stats.peak_allocated},
                             {"peak_reserved_bytes", stats.peak_reserved},
                             {"inactive_split_bytes", stats.inactive_split},
                             {"pending_bytes", stats.pending()},
                             {"rounding_bytes", stats.rounding()},
                             {"cached_bytes", stats.cached()},
                             {"utilization_percent", stats.utilization_percent()},
                             {"peak_utilization_percent", stats.peak_utilization_percent()},
                             {"fragmentation_percent", stats.fragmentation_percent()},
                             {"inactive_split_percent", stats.inactive_split_percent()},
                             {"retries", stats.retries},
                             {"ooms", stats.ooms},
                             {"empty_cache_calls", stats.empty_cache_calls},
                             {"retaken_bytes", stats.retaken}});
}

}  // namespace

std::uint64_t StatsReading::rounding() const {
  // Until a free completes, what was requested is still counted, what was allocated no more.
  return requested && *requested < active ? active - *requested : 0;
}

std::optional<double> StatsReading::utilization_percent() const {
  return share(allocated, reserved);
}

std::optional<double> StatsReading::peak_utilization_percent() const {
  return share(peak_allocated, peak_reserved);
}

std::optional<double> StatsReading::fragmentation_percent() const {
  return share(reserved - allocated, reserved);
}

std::optional<double> StatsReading::inactive_split_percent() const {
  return share(inactive_split, reserved);
}

base::Result<StatsReading> read_stats(const base::Json& stats, const std::string& name) {
  if (!stats.is_object())
    return base::error(Code::bad_input,
                       "%s: expected an object, what torch.cuda.memory_stats() returns, as JSON",
                       name.c_str());
  const Numbers numbers(stats, name);
  StatsReading reading;
  for (const auto& [key, to] : {std::pair{"allocated_bytes.all.current", &reading.allocated},
                                std::pair{"reserved_bytes.all.current", &reading.reserved},
                                std::pair{"allocated_bytes.all.peak", &reading.peak_allocated},
                                std::pair{"reserved_bytes.all.peak", &reading.peak_reserved}}) {
    const auto number = numbers.get(key);
    if (!number) return number.error();
    *to = *number;
  }
  std::optional<std::uint64_t> active, split, retries, ooms, syncs, taken;
  for (const auto& [key, to] :
       {std::pair{"active_bytes.all.current", &active},
        std::pair{"inactive_split_bytes.all.current", &split},
        std::pair{"requested_bytes.all.current", &reading.requested},
        std::pair{"num_alloc_retries", &retries}, std::pair{"num_ooms", &ooms},
        std::pair{"num_sync_all_streams", &syncs},
        std::pair{"reserved_bytes.all.allocated", &taken}}) {
    const auto number = numbers.find(key);
    if (!number) return number.error();
    *to = *number;
  }
  reading.active = active.value_or(reading.allocated);
  reading.inactive_split = split.value_or(0);
  if (reading.allocated > reading.active ||
      reading.active + reading.inactive_split > reading.reserved)
    return base::error(Code::bad_input,
                       "%s: %llu bytes allocated, %llu active and %llu in inactive splits do not "
                       "fit into %llu reserved",
                       name.c_str(), ull{reading.allocated}, ull{reading.active},
                       ull{reading.inactive_split}, ull{reading.reserved});
  reading.retries = retries.value_or(0);
  reading.ooms = ooms.value_or(0);
  // Each retry waits for all streams as well.
  if (syncs) reading.empty_cache_calls = *syncs - std::min(*syncs, reading.retries);
  // Zero after reset_accumulated_memory_stats.
  reading.retaken = taken.value_or(0) - std::min(taken.value_or(0), reading.peak_reserved);
  return reading;
}

bool may_be_stats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  while (file.get(first) && std::isspace(static_cast<unsigned char>(first)) != 0) {
  }
  // No pickle begins like this, and nothing packed does.
  return file.good() && first == '{';
}

base::Result<StatsReading> read_stats_file(const std::string& path) {
  const auto text = base::read_file(path, kLargestStats);
  if (!text) return text.error();
  const auto json = base::parse_json(*text);
  if (!json) {
    return base::error(Code::bad_input, "%s: %s", path.c_str(), json.error().message.c_str());
  }
  return read_stats(*json, path);
}

StatsDiagnosis diagnose(const StatsReading& stats) {
  StatsDiagnosis diagnosis;
  diagnosis.stats = stats;
  diagnosis.confidence = Confidence::medium;
  diagnosis.evidence = evidence_of(stats);
  find_all(diagnosis);
  const std::vector<Part> parts = parts_to_act_on(stats);
  for (const Part& part : parts)
    diagnosis.also.push_back(part.verdict);
  if (empties_in_a_loop(stats)) diagnosis.also.push_back(Verdict::empty_cache);
  if (is_worthwhile(stats.cached(), stats.reserved)) diagnosis.also.push_back(Verdict::cache);
  if (parts.empty()) {
    decide_without_parts(diagnosis);
  } else {
    decide_for(diagnosis, parts.front());
  }
  std::erase(diagnosis.also, diagnosis.verdict);
  return diagnosis;
}

}  // namespace ebb::replay
