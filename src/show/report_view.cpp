// SPDX-License-Identifier: Apache-2.0
#include "show/report_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/ledger_view.h"
#include "show/memory_view.h"
#include "show/process_rows.h"
#include "show/site_view.h"
#include "show/verdict.h"
#include "show/words.h"
#include "term/sparkline.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::plain_line;
using term::or_dash;

constexpr std::size_t kMostProcesses = 12;
constexpr std::size_t kMostEvents = 20;
constexpr std::size_t kCurveWidth = 32;
constexpr std::size_t kLongestName = 36;
constexpr std::size_t kLongestTitle = 60;
constexpr std::size_t kLongestCommand = 80;

std::string sparkline_of(const record::ProcessHistory& history) {
  // Evenly over its time, whatever was merged.
  std::vector<double> values(kCurveWidth, 0);
  if (history.readings.empty()) return "";
  const double from = history.readings.front().seconds;
  const double length = std::max(history.readings.back().until - from, 1e-9);
  for (const record::Reading& reading : history.readings) {
    const double share = std::clamp((reading.middle() - from) / length, 0.0, 1.0);
    const auto at = static_cast<std::size_t>(share * (kCurveWidth - 1));
    double& value = values[at];
    if (reading.rss) value = std::max(value, static_cast<double>(reading.rss->high));
  }
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] == 0) values[i] = values[i - 1];
  return term::sparkline(values, kCurveWidth, *std::max_element(values.begin(), values.end()) / 50);
}

std::string process_text(const record::RecordedRun& run, const story::RunStory& story,
                         const term::Style& style) {
  term::Table table({{"pid"},
                     {"process", term::Align::left},
                     {"peak rss"},
                     {"steady"},
                     {"live"},
                     {"retained"},
                     {"cleanups"},
                     {"returned"},
                     {"rounds"},
                     {"verdict", term::Align::left},
                     {"rss", term::Align::left}});
  for (const ProcessRow& row : process_rows(story, kMostProcesses)) {
    const story::ProcessStory& one = *row.process;
    table.add_row({std::to_string(one.process.pid), plain_line(row.name, kLongestName),
                   or_dash(one.peak_rss), or_dash(one.steady_rss), or_dash(one.live),
                   or_dash(one.retained), std::to_string(one.cleanups.count),
                   bytes_text(one.cleanups.returned), std::to_string(one.rounds),
                   fact::name_of(one.diagnosis.verdict),
                   style.paint(sparkline_of(run.processes[one.index]), term::Colour::green)});
  }
  std::string text = table.text(style);
  if (story.processes.size() > kMostProcesses) {
    text += format_text("and %zu smaller ones (all are in --json)\n",
                        story.processes.size() - kMostProcesses);
  }
  return text;
}

std::string peak_text(const record::RunSummary& summary) {
  const story::Peak peak = story::peak_of(summary);
  std::string text = "peak       ";
  if (peak.of_group) text += or_dash(peak.bytes) + " of its control group, file cache included; ";
  if (!story::seen(summary.peak_rss))
    return text + "rss not known: no process was looked at before it ended\n";
  return text + format_text("rss at least %s of all processes together, %s of one\n",
                            bytes_text(summary.peak_rss).c_str(),
                            bytes_text(summary.peak_process_rss).c_str());
}

std::string place_text(const record::RecordedRun& run) {
  double percent = 0;
  std::optional<double> pressure;
  std::optional<std::uint64_t> gpu, gpu_total;
  for (const record::PlaceReading& place : run.place) {
    percent = std::max(percent, place.now.percent);
    if (place.now.pressure_some)
      pressure = std::max(pressure.value_or(0), *place.now.pressure_some);
    if (place.now.gpu_used) gpu = std::max(gpu.value_or(0), *place.now.gpu_used);
    if (place.now.gpu_total) gpu_total = place.now.gpu_total;
  }
  if (run.place.empty()) return "";
  std::string text = format_text("limit      %s, at most %.1f %% of it used",
                                 bytes_text(run.place.back().now.limit).c_str(), percent);
  if (pressure) text += format_text("; pressure up to %.1f %%", *pressure);
  text += "\n";
  if (gpu) {
    text += "gpu        at most " + bytes_text(*gpu) +
            (gpu_total ? " of " + bytes_text(*gpu_total) : std::string()) + "\n";
  }
  return text;
}

/// The newest of those that are markers, or of those that are not, under a title.
std::string event_lines(const record::RecordedRun& run, bool markers) {
  std::vector<const record::Event*> shown;
  for (const record::Event& event : run.events)
    if (event.is(record::EventKind::marker) == markers) shown.push_back(&event);
  if (shown.empty()) return "";
  std::string text = markers ? "\nmarkers\n" : "\nevents\n";
  const std::size_t first = shown.size() > kMostEvents ? shown.size() - kMostEvents : 0;
  if (first > 0) text += format_text("  … %zu before\n", first);
  for (std::size_t i = first; i < shown.size(); ++i) {
    const record::Event& event = *shown[i];
    std::string what = plain_line(event.text);
    if (event.process) what = std::to_string(event.process->pid) + ": " + what;
    if (!markers) what = format_text("%-9s ", plain_line(event.kind).c_str()) + what;
    text += format_text("  %9s  %s\n", base::duration_text(event.seconds).c_str(), what.c_str());
  }
  return text;
}

}  // namespace

std::string verdict_text(const record::RecordedRun& run, const story::RunStory& story,
                         const term::Style& style) {
  const record::RunSummary& summary = run.summary;
  std::string text = format_text("run        %lld %s  %s\n", static_cast<long long>(summary.run.id),
                                 plain_line(summary.run.name, kLongestTitle).c_str(),
                                 plain_line(joined(summary.run.command), kLongestCommand).c_str());
  text += "started    " + local_time_text(summary.run.started);
  if (!summary.run.host.empty()) text += " on " + plain_line(summary.run.host, kLongestTitle);
  text += ", " + base::duration_text(summary.seconds) + ", " + story.ending.brief + "\n";
  text += text_of(diagnosis_lines(story.diagnosis, style));
  if (story.memory) {
    text += split_text(*story.memory, style);
    const std::string& enough = story.memory->fix.text;
    if (!enough.empty() && enough != story.diagnosis.fix.text)
      text += "enough     " + style.paint(plain_line(enough), term::Colour::bold) + "\n";
  }
  text += sites_text(story);
  if (summary.lost > 0) {
    text += format_text("lost       %llu samples could not be written\n",
                        static_cast<unsigned long long>(summary.lost));
  }
  if (summary.detail > 0) text += "thinned    it is old: only coarse values are kept\n";
  return text;
}

std::string report_text(const record::RecordedRun& run, const story::RunStory& story,
                        const term::Style& style) {
  std::string text = verdict_text(run, story, style);
  if (!story.processes.empty()) text += "\n" + process_text(run, story, style) + "\n";
  if (const std::string parts = ledgers_text(story, kMostProcesses, style); !parts.empty())
    text += parts + "\n";
  text += peak_text(run.summary);
  text += place_text(run);
  if (story.cleanups.count > 0) {
    text += format_text(
        "cleanups   %llu returned %s, took %s (%.2f %% of the time)\n",
        static_cast<unsigned long long>(story.cleanups.count),
        fact::returned_text(story.cleanups.returned, story.cleanups.devices).c_str(),
        base::duration_text(story.cleanups.cost_seconds).c_str(), 100 * story.cleanup_share);
  }
  return text + event_lines(run, false) + event_lines(run, true);
}

}  // namespace ebb::show
