// SPDX-License-Identifier: Apache-2.0
#include "show/replay_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/tuning_words.h"
#include "show/words.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::plain_line;

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

std::string labelled(const std::string& label, const std::string& text) {
  return format_text("%-17s%s\n", label.c_str(), text.c_str());
}

std::string tuned_job_text(const replay::Job& job, const replay::TunedJob& tuned,
                           const term::Style& style) {
  std::string text =
      "\n" + plain_line(job.name) + "\n\n" + rows_text(tuned.rows, tuned.recorded, style) + "\n";
  for (const LabelledText& each : bounds_texts(tuned))
    text += labelled(each.label, each.text);
  for (const LabelledText& each : outlook_texts(tuned))
    text += labelled(each.label, each.text);
  return text;
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
  std::string text = style.paint(shell_line(result), term::Colour::bold) + "\n";
  std::vector<const replay::TunedJob*> tuned;
  for (const replay::TunedJob& job : result.jobs) {
    tuned.push_back(&job);
  }
  text += gain_text(tuned) + "; " + tried_text(result) + "\n";
  for (std::size_t i = 0; i < jobs.size(); ++i)
    text += tuned_job_text(jobs[i], result.jobs[i], style);
  if (result.futures) {
    for (const LabelledText& each : futures_texts(*result.futures))
      text += labelled(each.label, each.text);
  }
  for (const std::string& note : tuning_notes(result))
    text += "note: " + note + "\n";
  return text;
}

}  // namespace ebb::show
