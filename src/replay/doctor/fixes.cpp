// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/fixes.h"

#include <algorithm>

#include "base/bytes.h"
#include "replay/doctor/counterfactual.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

using base::bytes_text;
using fact::FixKind;
using fact::Verdict;

constexpr std::uint64_t kStep = 2 * base::kMiB;
/// No card has more.
constexpr std::uint64_t kMostMemory = 2 * base::kTiB;

std::string with(const std::string& conf, const std::string& setting) {
  return conf.empty() ? setting : conf + "," + setting;
}

/// Strings that change one setting of the recorded one, in the order to try them.
std::vector<std::string> single_changes(const std::string& conf) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& other) {
    if (other != conf && std::find(all.begin(), all.end(), other) == all.end()) {
      all.push_back(other);
    }
  };
  add(without_key(conf, "max_split_size_mb"));
  add(without_key(conf, "roundup_power2_divisions"));
  if (conf.find("expandable_segments:True") == std::string::npos) {
    add(with(without_key(conf, "expandable_segments"), "expandable_segments:True"));
  }
  if (conf.find("garbage_collection_threshold") == std::string::npos) {
    add(with(conf, "garbage_collection_threshold:0.80"));
  }
  add(with(without_key(conf, "large_segment_size_mb"), "large_segment_size_mb:12"));
  add(with(without_key(conf, "roundup_power2_divisions"), "roundup_power2_divisions:8"));
  return all;
}

Circumstances under(const Row& recorded, const Circumstances& circumstances) {
  Circumstances same = circumstances;
  same.profile = recorded.profile;
  same.limit = recorded.limit;
  return same;
}

TestedFix settings_fix(Row row, const Row& recorded) {
  const std::string variable = cache::variable_to_set(row.profile);
  const std::string what = row.conf.empty() ? "no " + variable : variable + "=" + row.conf;
  const std::string held = bytes_text(row.outcome.peak_reserved);
  std::string text = recorded.outcome.oom
                         ? "With " + what + " every request is served, in " + held
                         : "With " + what + " the job holds " + held + " instead of " +
                               bytes_text(recorded.outcome.peak_reserved);
  std::string conf = row.conf;
  return {{FixKind::settings, std::move(text), std::move(conf), 0}, std::move(row)};
}

/// What the program itself can do; null where it is up to settings.
const char* advice_on(Verdict verdict) {
  switch (verdict) {
    case Verdict::private_pools:
      return "Release graphs and pools that are no longer used, or share one pool";
    case Verdict::deferred_frees:
      return "Free on the stream that used the memory last, or wait for it before asking for more";
    case Verdict::cache:
      return "Call torch.cuda.empty_cache() before capturing or entering a pool";
    default:
      return nullptr;
  }
}

/// No request fails, whatever addresses the driver gives out.
bool serves_all(const Row& row) {
  return !row.outcome.oom && !row.oom_at;
}

/// What a search is for: the recorded requests have to fit, or the job is to hold less from now on.
enum class Aim : std::uint8_t { recorded_requests, what_comes };

std::optional<Row> tuned(const Workload& work, const Circumstances& same, Aim aim) {
  TuneOptions options;
  options.circumstances = same;
  options.quick = aim == Aim::recorded_requests;
  options.foretell = false;
  auto result = tune({&work}, options);
  if (!result) return std::nullopt;
  return std::move(result->jobs.front().best);
}

}  // namespace

std::optional<std::uint64_t> smallest_limit(const Workload& workload, const std::string& conf,
                                            const Circumstances& circumstances,
                                            std::uint64_t at_least) {
  Circumstances trial = circumstances;
  const auto fits = [&](std::uint64_t limit) {
    trial.limit = limit;
    const auto row = forecast(workload, conf, trial, false);
    return row && serves_all(*row);
  };
  std::uint64_t low = at_least / kStep;
  std::uint64_t high = std::max<std::uint64_t>(low, 1);
  while (high <= kMostMemory / kStep && !fits(high * kStep)) {
    low = high;
    high *= 2;
  }
  if (high > kMostMemory / kStep) return std::nullopt;
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(middle * kStep) ? high : low) = middle;
  }
  return high * kStep;
}

namespace {

/// The recorded settings with as much memory as they need.
TestedFix more_memory(const Workload& workload, const Row& recorded, const Circumstances& same,
                      Verdict verdict, std::uint64_t room) {
  TestedFix tested;
  fact::Fix& fix = tested.fix;
  const auto enough = smallest_limit(workload, recorded.conf, same, recorded.limit);
  if (enough) {
    fix.bytes = *enough;
    Circumstances raised = same;
    raised.limit = fix.bytes;
    if (auto row = forecast(workload, recorded.conf, raised, false)) tested.row = std::move(*row);
  }
  const std::string amount = bytes_text(fix.bytes);
  const std::string or_memory = enough ? "; else " + amount + " are needed" : std::string();
  if (enough && room != 0 && fix.bytes <= recorded.limit + room) {
    fix.kind = FixKind::limit;
    fix.text = "Raise the job's own limit to " + amount + ": the device has the room";
  } else if (const char* advice = advice_on(verdict); advice != nullptr) {
    fix.kind = FixKind::code;
    fix.text = advice + or_memory;
  } else if (enough) {
    fix.kind = FixKind::memory;
    fix.text = "No setting makes it fit; with the recorded ones " + amount + " is enough";
    fix.conf = recorded.conf;
  } else {
    fix.text = "No setting makes it fit";
  }
  return tested;
}

}  // namespace

TestedFix fix_failure(const Workload& workload, const Row& recorded,
                      const Circumstances& circumstances, Verdict verdict, std::uint64_t room) {
  const Circumstances same = under(recorded, circumstances);
  if (verdict == Verdict::self_limit) {
    TestedFix raised = more_memory(workload, recorded, same, verdict, room);
    if (raised.fix.kind == FixKind::limit) return raised;
  }
  std::optional<Row> likely;  // fits where the driver gives out the addresses it did
  const auto take = [&](Row row) {
    const bool certain = serves_all(row);
    if (certain || (!row.outcome.oom && !likely)) likely = std::move(row);
    return certain;
  };
  for (const std::string& conf : single_changes(recorded.conf)) {
    auto row = forecast(workload, conf, same, false);
    if (row && take(std::move(*row))) return settings_fix(std::move(*likely), recorded);
  }
  if (auto row = tuned(workload, same, Aim::recorded_requests)) take(std::move(*row));
  if (likely) return settings_fix(std::move(*likely), recorded);
  return more_memory(workload, recorded, same, verdict, room);
}

TestedFix fix_capacity(const Workload& workload, const Row& recorded,
                       const Circumstances& circumstances, const LowerBound& bound) {
  TestedFix tested;
  fact::Fix& fix = tested.fix;
  fix.kind = FixKind::code;
  fix.text = "Keep " + bytes_text(bound.live - recorded.limit) + " less alive";
  Circumstances open = under(recorded, circumstances);
  open.limit = cache::kUnlimited;
  std::vector<std::string> confs = single_changes(recorded.conf);
  confs.insert(confs.begin(), recorded.conf);
  if (const auto best = tuned(workload, open, Aim::recorded_requests)) confs.push_back(best->conf);
  std::optional<std::uint64_t> least;
  std::string with_least;
  for (const std::string& conf : confs) {
    const auto enough = smallest_limit(workload, conf, open, bound.live);
    if (!enough || (least && *enough >= *least)) continue;
    least = enough;
    with_least = conf;
  }
  if (!least) return tested;
  fix.kind = FixKind::memory;
  fix.bytes = *least;
  fix.conf = with_least;
  open.limit = fix.bytes;
  if (auto row = forecast(workload, with_least, open, false)) tested.row = std::move(*row);
  fix.text += ", or give it " + bytes_text(fix.bytes) +
              (with_least.empty() ? " with the default settings" : " with " + with_least);
  return tested;
}

TestedFix fix_peak(const Workload& workload, const Row& recorded,
                   const Circumstances& circumstances, Verdict verdict) {
  auto row = tuned(workload, under(recorded, circumstances), Aim::what_comes);
  if (row && row->outcome.peak_reserved < recorded.outcome.peak_reserved) {
    return settings_fix(std::move(*row), recorded);
  }
  TestedFix tested;
  const char* advice = advice_on(verdict);
  tested.fix.kind = advice != nullptr ? FixKind::code : FixKind::none;
  // What suits the job as it goes on may hold more of what was recorded, which proves nothing here.
  const bool is_known = !row || row->conf == recorded.conf;
  const char* none = is_known ? "No setting is sure to hold less as the job goes on"
                              : "Nothing that suits the job as it goes on holds less of what was "
                                "recorded; ebb tune on this snapshot says what comes of it";
  tested.fix.text = advice != nullptr ? advice : none;
  return tested;
}

}  // namespace ebb::replay
