// SPDX-License-Identifier: Apache-2.0
#include "show/ledger_plot.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "fact/ledger.h"
#include "page/thin.h"
#include "show/page_parts.h"
#include "story/process_ledger.h"

namespace ebb::show {
namespace {

constexpr std::size_t kMostLedgerPlots = 4;
constexpr std::size_t kMostLedgers = 2000;
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

/// All parts of a ledger over time; one that is not known at a moment has a gap there.
std::vector<page::Line> ledger_parts(const record::RecordedRun& run,
                                     const record::ProcessHistory& history) {
  std::vector<page::Line> lines;
  for (const fact::Ledger::Part& part : fact::Ledger{}.parts())
    lines.push_back(sloped_line(part.name));
  for (const record::Reading* reading : story::comparable_readings(history)) {
    // Where a mean of merged readings is.
    const double seconds = reading->middle();
    if (!lines[0].x.empty() && seconds <= lines[0].x.back()) continue;
    const fact::Ledger ledger = story::ledger_at(
        *reading, story::private_allocators_at(run, history.process.key(), reading->until));
    std::size_t line = 0;
    for (const fact::Ledger::Part& part : ledger.parts()) {
      lines[line].x.push_back(seconds);
      lines[line++].y.push_back(part.bytes ? static_cast<double>(*part.bytes) : kGap);
    }
  }
  return lines;
}

bool holds_anything(const page::Line& line) {
  return std::any_of(line.y.begin(), line.y.end(), [](double y) { return y > 0; });
}

std::string ledger_note(const record::ProcessHistory& history,
                        const std::vector<page::Line>& lines) {
  std::string note =
      "The parts add up to rss and swap; what is not known at each moment, as what is stacks' "
      "and Python's, is in unexplained.";
  for (const page::Line& line : lines) {
    const auto known = std::find_if(line.y.begin(), line.y.end(), [](double y) { return y >= 0; });
    if (known == line.y.begin() || known == line.y.end()) continue;
    const auto since = static_cast<std::size_t>(known - line.y.begin());
    note +=
        " What is " + line.name + " is known from " + base::duration_text(line.x[since]) + " on.";
  }
  if (std::any_of(history.readings.begin(), history.readings.end(),
                  [](const record::Reading& reading) { return reading.count > 1; }))
    note += " Older readings were merged: there it is their mean.";
  return note;
}

}  // namespace

std::map<std::size_t, page::Plot> ledger_plots(const record::RecordedRun& run,
                                               const story::RunStory& story) {
  std::map<std::size_t, page::Plot> plots;
  std::set<std::string> shown;
  for (std::size_t i = 0; i < story.processes.size() && plots.size() < kMostLedgerPlots; ++i) {
    const record::ProcessHistory& history = run.processes[story.processes[i].index];
    std::vector<page::Line> lines = ledger_parts(run, history);
    if (lines[0].x.size() < 2 || std::count_if(lines.begin(), lines.end(), holds_anything) < 2)
      continue;
    for (const page::Line& line : lines)
      if (holds_anything(line)) shown.insert(line.name);
    page::Plot plot =
        time_plot("Where the memory of process " + story::name_of(story.processes[i]) + " is",
                  page::Unit::bytes, "memory");
    plot.note = ledger_note(history, lines);
    plot.stacked = true;
    plot.lines = std::move(lines);
    if (run.summary.run.limit > 0)
      plot.limit = page::Limit{"limit", static_cast<double>(run.summary.run.limit)};
    page::thin(plot, kMostLedgers);
    plots.emplace(i, std::move(plot));
  }
  for (auto& [process, plot] : plots)
    std::erase_if(plot.lines, [&](const page::Line& line) { return !shown.contains(line.name); });
  return plots;
}

}  // namespace ebb::show
