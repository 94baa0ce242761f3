// SPDX-License-Identifier: Apache-2.0
#include "show/replay_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/words.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::plain_line;

/// What expandable segments cost elsewhere, by what PyTorch's users report.
constexpr const char* kExpandableNote =
    "note: with expandable segments, sharing tensors between processes (CUDA IPC, UCX) may fail or "
    "slow down, and WSL 2 may refuse them: --without expandable_segments\n";

/// "12.9 GiB", or "12.9 GiB to 13.1 GiB": as far as it is known.
std::string peak_text(const replay::Row& row) {
  const std::string low = bytes_text(row.peak.low);
  const std::string high = bytes_text(row.peak.high);
  return low == high ? low : low + " to " + high;
}

std::string oom_text(const replay::Row& row) {
  if (!row.oom_at) return "no";
  const auto at = static_cast<unsigned long long>(row.oom_at->low);
  if (row.oom_at->is_exact()) return format_text("at request %llu", at);
  if (row.oom_at->high == cache::kUnlimited) return format_text("perhaps, from request %llu", at);
  return format_text("at request %llu to %llu", at,
                     static_cast<unsigned long long>(row.oom_at->high));
}

std::string call_seconds_text(double seconds) {
  return seconds < 1 ? format_text("%.1f ms", seconds * 1e3) : format_text("%.2f s", seconds);
}

double percent_above(std::uint64_t value, std::uint64_t bound) {
  return bound == 0 ? 0 : 100 * (static_cast<double>(value) / static_cast<double>(bound) - 1);
}

std::string later_text(const char* label, const replay::Later& later) {
  return format_text("%-17s%s at the most, %s as a rule: up to %.2f times what is live; %s\n",
                     label, bytes_text(later.worst).c_str(), bytes_text(later.median).c_str(),
                     later.over_live, text_of(later.growth).c_str());
}

std::string card_text(const replay::SmallestCard& card) {
  std::string text = format_text("%-17s%s without a retry", "smallest card",
                                 bytes_text(card.without_retries).c_str());
  if (card.with_retries < card.without_retries) {
    const auto retries = static_cast<unsigned long long>(card.retries);
    text += format_text("; %s with up to %llu retr%s in %llu steps, which cost %s at least",
                        bytes_text(card.with_retries).c_str(), retries, retries == 1 ? "y" : "ies",
                        static_cast<unsigned long long>(card.steps),
                        call_seconds_text(card.seconds).c_str());
  }
  return text + format_text("; replayed in all %llu futures\n",
                            static_cast<unsigned long long>(card.futures));
}

std::string futures_text(const replay::FuturesTried& futures) {
  const auto of = [&](replay::Source source) {
    return static_cast<unsigned long long>(
        std::count(futures.sources.begin(), futures.sources.end(), source));
  };
  std::string kinds;
  const auto add = [&](replay::Source source, const char* words) {
    if (of(source) != 0)
      kinds += format_text("%s%llu %s", kinds.empty() ? "" : ", ", of(source), words);
  };
  add(replay::Source::repeated, "with the recorded steps repeated");
  add(replay::Source::resampled, "with them in other orders");
  add(replay::Source::lengthened, "with steps of new sizes");
  add(replay::Source::pieces, "with pieces of the recording in other orders");
  std::string text = format_text("futures          %llu of %llu steps: %s; %llu held out\n",
                                 static_cast<unsigned long long>(futures.sources.size()),
                                 static_cast<unsigned long long>(futures.steps), kinds.c_str(),
                                 static_cast<unsigned long long>(futures.held_out));
  text +=
      format_text("regret           %.3f times the best of five well-known settings at the worst",
                  futures.regret);
  if (futures.held_out_regret)
    text += format_text(", %.3f in the futures held out", *futures.held_out_regret);
  text += "\n";
  if (!futures.repeats) {
    text +=
        "note: no steps that repeat were found: only the default and expandable segments were "
        "considered\n";
  } else if (futures.only_baselines) {
    text +=
        "note: too few steps were recorded to trust more than the default and expandable segments "
        "with or without a size (docs/tune.md)\n";
  }
  return text;
}

std::string tuned_job_text(const replay::Job& job, const replay::TunedJob& tuned,
                           const term::Style& style) {
  std::string text =
      "\n" + plain_line(job.name) + "\n\n" + rows_text(tuned.rows, tuned.recorded, style) + "\n";
  text += format_text("lower bound      %s live at once: the best is %.1f %% above it\n",
                      bytes_text(tuned.lower_bound).c_str(),
                      percent_above(tuned.best.outcome.peak_reserved, tuned.lower_bound));
  text += format_text("offline packing  %s, with all requests known in advance\n",
                      bytes_text(tuned.packing).c_str());
  if (tuned.later) text += later_text("later", *tuned.later);
  if (tuned.later_by_default && !tuned.best.conf.empty())
    text += later_text("by default", *tuned.later_by_default);
  if (tuned.card) {
    text += card_text(*tuned.card);
  } else if (tuned.later && tuned.best.limit != cache::kUnlimited) {
    text += tuned.later->growth.stops_after_steps
                ? "smallest card    none: some requests fail on any card\n"
                : "smallest card    none: memory still grows\n";
  }
  return text;
}

std::string gain_text(const replay::TuneResult& result) {
  std::int64_t saved = 0;
  bool fails = false;
  bool failed = false;
  for (const replay::TunedJob& job : result.jobs) {
    fails |= job.best.outcome.oom.has_value();
    failed |= job.recorded.outcome.oom.has_value();
    saved += static_cast<std::int64_t>(job.recorded.outcome.peak_reserved) -
             static_cast<std::int64_t>(job.best.outcome.peak_reserved);
  }
  if (fails) return "no settings serve every request under this limit; these hold least";
  if (failed) return "serves every request, where the recorded settings run out of memory";
  return "saves " + bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(saved, 0))) +
         " against the recorded settings";
}

}  // namespace

std::string rows_text(const std::vector<replay::Row>& rows, const replay::Row& baseline,
                      const term::Style& style) {
  using term::Align;
  term::Table table({{"setting", Align::left},
                     {"peak reserved"},
                     {"peak allocated"},
                     {"ratio"},
                     {"saved"},
                     {"driver calls"},
                     {"their time"},
                     {"retries"},
                     {"out of memory", Align::left},
                     {"check", Align::left}});
  for (const replay::Row& row : rows) {
    const replay::Outcome& outcome = row.outcome;
    const double ratio = outcome.peak_allocated == 0
                             ? 0
                             : static_cast<double>(outcome.peak_reserved) /
                                   static_cast<double>(outcome.peak_allocated);
    const auto saved = static_cast<std::int64_t>(baseline.outcome.peak_reserved) -
                       static_cast<std::int64_t>(outcome.peak_reserved);
    table.add_row({plain_line(conf_text(row.conf)) + (row.is_recorded ? " *" : ""), peak_text(row),
                   bytes_text(outcome.peak_allocated), format_text("%.2f", ratio),
                   saved == 0 ? "-" : base::signed_bytes_text(saved),
                   std::to_string(outcome.calls.total()), call_seconds_text(outcome.calls.seconds),
                   std::to_string(outcome.retries), oom_text(row), check_text(row)});
  }
  return table.text(style);
}

std::string replay_text(const replay::Job& job, const std::vector<replay::Row>& rows,
                        const term::Style& style) {
  const replay::Recording& recording = job.workload.recording;
  const std::string text =
      format_text("%s: %llu requests, PyTorch 2.%d, %s reserved at the peak\n\n",
                  plain_line(job.name).c_str(),
                  static_cast<unsigned long long>(job.workload.requests), recording.newest_minor,
                  bytes_text(recording.peak_reserved).c_str()) +
      rows_text(rows, rows.front(), style);
  const bool has_recorded =
      std::any_of(rows.begin(), rows.end(), [](const replay::Row& row) { return row.is_recorded; });
  return has_recorded ? text + "\n* recorded so; check compares with the recording\n" : text;
}

std::string tuning_text(const std::vector<replay::Job>& jobs, const replay::TuneResult& result,
                        const term::Style& style) {
  const std::string conf = replay::conf_of(result.knobs);
  const std::string line =
      conf.empty() ? "unset " + result.variable : "export " + result.variable + "=" + conf;
  std::string text = style.paint(line, term::Colour::bold) + "\n";
  text += format_text("%s; %llu settings replayed%s\n", gain_text(result).c_str(),
                      static_cast<unsigned long long>(result.tried),
                      result.proven ? ", nothing can hold less" : "");
  for (std::size_t i = 0; i < jobs.size(); ++i)
    text += tuned_job_text(jobs[i], result.jobs[i], style);
  if (result.futures) {
    text += futures_text(*result.futures);
  } else {
    text += "note: fitted to what was recorded; how the job goes on was not looked at (--quick)\n";
  }
  if (result.knobs.expandable) text += kExpandableNote;
  return text;
}

}  // namespace ebb::show
