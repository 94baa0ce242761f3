// SPDX-License-Identifier: Apache-2.0
#include "show/tuning_words.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;

std::string later_text(const replay::Foresight& later, bool is_limited) {
  const bool without = is_limited && later.limit() == cache::kUnlimited;
  std::string text =
      format_text("%s at the most, %s as a rule%s", bytes_text(later.worst().peak).c_str(),
                  bytes_text(later.rule().peak).c_str(), without ? ", without the limit" : "");
  if (const auto over_live = later.over_live())
    text += format_text(": up to %.2f times what is live", *over_live);
  if (const auto& growth = later.rule().growth) text += "; " + text_of(*growth);
  if (later.out_of_memory() != 0) {
    text += format_text("; %llu of %llu futures run out of memory",
                        static_cast<unsigned long long>(later.out_of_memory()),
                        static_cast<unsigned long long>(later.futures().size()));
  }
  return text;
}

std::string card_text(const replay::SmallestCard& card) {
  std::string text = format_text("%s without a retry", bytes_text(card.without_retries).c_str());
  if (card.with_retries < card.without_retries) {
    const auto retries = static_cast<unsigned long long>(card.retries);
    text += format_text("; %s with up to %llu retr%s in %llu steps, which cost %s at least",
                        bytes_text(card.with_retries).c_str(), retries, retries == 1 ? "y" : "ies",
                        static_cast<unsigned long long>(card.steps),
                        call_seconds_text(card.seconds).c_str());
  }
  return text + format_text("; replayed in all %llu futures",
                            static_cast<unsigned long long>(card.futures));
}

std::string sources_text(const std::vector<replay::Source>& sources) {
  std::string text;
  const auto add = [&](replay::Source source, const char* words) {
    const auto count =
        static_cast<unsigned long long>(std::count(sources.begin(), sources.end(), source));
    if (count != 0) text += format_text("%s%llu %s", text.empty() ? "" : ", ", count, words);
  };
  add(replay::Source::repeated, "with the recorded steps repeated");
  add(replay::Source::resampled, "with them in other orders");
  add(replay::Source::lengthened, "with steps of new sizes");
  add(replay::Source::pieces, "with pieces of the recording in other orders");
  return text;
}

}  // namespace

std::string call_seconds_text(double seconds) {
  return seconds < 1 ? format_text("%.1f ms", seconds * 1e3) : format_text("%.2f s", seconds);
}

std::string shell_line(const replay::TuneResult& result) {
  const std::string conf = replay::conf_of(result.knobs);
  return conf.empty() ? "unset " + result.variable : "export " + result.variable + "=" + conf;
}

std::string gain_text(const std::vector<const replay::TunedJob*>& jobs) {
  std::int64_t saved = 0;
  bool fails = false;
  bool failed = false;
  bool is_recorded = true;
  bool refused = false;
  for (const replay::TunedJob* job : jobs) {
    fails |= job->best.outcome.oom.has_value();
    failed |= job->recorded.outcome.oom.has_value();
    is_recorded &= job->best.conf == job->recorded.conf;
    refused |= job->recorded_refused;
    saved += static_cast<std::int64_t>(job->recorded.outcome.peak_reserved) -
             static_cast<std::int64_t>(job->best.outcome.peak_reserved);
  }
  if (fails) return "no settings serve every request under this limit; these hold least";
  // Whoever has to do without what was recorded runs on the default.
  const std::string others = !refused           ? "the recorded settings"
                             : jobs.size() == 1 ? "the default settings"
                                                : "the recorded or default settings";
  if (is_recorded) return "these are " + others;
  if (failed) return "serves every request, where " + others + " run out of memory";
  const std::string bytes = bytes_text(static_cast<std::uint64_t>(std::abs(saved)));
  if (saved > 0) return "saves " + bytes + " against " + others;
  if (saved == 0) return "holds as much as " + others + " in what was recorded";
  return "holds " + bytes + " more than " + others + " in what was recorded";
}

std::string tried_text(const replay::TuneResult& result) {
  return format_text("%llu settings replayed%s", static_cast<unsigned long long>(result.tried),
                     result.proven ? ", nothing can hold less" : "");
}

std::vector<LabelledText> bounds_texts(const replay::TunedJob& tuned) {
  const replay::Outcome& best = tuned.best.outcome;
  std::string bound = bytes_text(tuned.lower_bound) + " live at once";
  // One that ran out of memory never came to its peak.
  if (!best.oom && tuned.lower_bound != 0) {
    const double times =
        static_cast<double>(best.peak_reserved) / static_cast<double>(tuned.lower_bound);
    bound += format_text(": the best is %.1f %% above it", 100 * (times - 1));
  }
  return {{"lower bound", std::move(bound)},
          {"offline packing", bytes_text(tuned.packing) + ", with all requests known in advance"}};
}

std::vector<LabelledText> outlook_texts(const replay::TunedJob& tuned) {
  if (!tuned.later) return {};
  const std::string& recorded = tuned.recorded.conf;
  const bool is_limited = tuned.best.limit != cache::kUnlimited;
  std::vector<LabelledText> texts = {{"later", later_text(*tuned.later, is_limited)}};
  if (tuned.later_as_recorded && !recorded.empty() && recorded != tuned.best.conf)
    texts.push_back({"as recorded", later_text(*tuned.later_as_recorded, is_limited)});
  if (tuned.later_by_default && !tuned.best.conf.empty())
    texts.push_back({"by default", later_text(*tuned.later_by_default, is_limited)});
  if (tuned.card) {
    texts.push_back({"smallest card", card_text(*tuned.card)});
  } else if (is_limited) {
    texts.push_back({"smallest card", tuned.grows_on_any_card
                                          ? "none: memory still grows"
                                          : "none: some requests fail on any card"});
  }
  return texts;
}

std::vector<LabelledText> futures_texts(const replay::FuturesTried& futures) {
  std::string regret =
      format_text("%.3f times the best of five well-known settings at the worst", futures.regret);
  if (futures.held_out_regret)
    regret += format_text(", %.3f in the futures held out", *futures.held_out_regret);
  return {{"futures", format_text("%llu of %llu steps: %s; %llu held out",
                                  static_cast<unsigned long long>(futures.sources.size()),
                                  static_cast<unsigned long long>(futures.steps),
                                  sources_text(futures.sources).c_str(),
                                  static_cast<unsigned long long>(futures.held_out))},
          {"regret", std::move(regret)}};
}

std::vector<std::string> tuning_notes(const replay::TuneResult& result) {
  std::vector<std::string> notes;
  if (!result.futures) {
    notes.emplace_back(
        "fitted to what was recorded; how the job goes on was not looked at (--quick)");
  } else if (!result.futures->repeats) {
    notes.emplace_back(
        "no steps that repeat were found: only the default and expandable segments were "
        "considered");
  } else if (result.futures->only_baselines) {
    notes.emplace_back(
        "too few steps were recorded to trust more than the default and expandable segments with "
        "or without a size (docs/tune.md)");
  }
  // What expandable segments cost elsewhere, by what PyTorch's users report.
  if (result.knobs.expandable) {
    notes.emplace_back(
        "with expandable segments, sharing tensors between processes (CUDA IPC, UCX) may fail or "
        "slow down, and WSL 2 may refuse them: --without expandable_segments");
  }
  return notes;
}

}  // namespace ebb::show
