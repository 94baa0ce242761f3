// SPDX-License-Identifier: Apache-2.0
#include "show/side_by_side.h"

#include <algorithm>

#include "base/text.h"
#include "show/page_parts.h"

namespace ebb::show {
namespace {

using base::Json;

std::string name_of(const record::Run& run) {
  const std::string number = std::to_string(run.id);
  return run.name.empty() ? "run " + number : number + ": " + run.name;
}

page::Line line_of(std::string name, const std::vector<trend::Point>& points) {
  page::Line line = sloped_line(std::move(name));
  for (const trend::Point& point : points) {
    line.x.push_back(point.seconds);
    line.y.push_back(point.value);
  }
  return line;
}

/// What one measure did in each run; nothing where no run has it.
template <class Points>
void add_plot(page::Document& page, const char* title, const char* note,
              const std::vector<ToldRun>& runs, Points points_of) {
  page::Plot plot;
  plot.title = title;
  plot.note = note;
  plot.x_label = "time";
  plot.x_unit = page::Unit::seconds;
  plot.y_label = "memory";
  for (const ToldRun& told : runs) {
    page::Line line = line_of(name_of(told.run.summary.run), points_of(told));
    if (line.x.size() > 1) plot.lines.push_back(std::move(line));
  }
  if (!plot.lines.empty()) page.plots.push_back(std::move(plot));
}

/// The series of a run's largest process.
std::vector<trend::Point> largest(const ToldRun& told,
                                  std::vector<trend::Point> story::ProcessSeries::*measure) {
  if (told.story.processes.empty()) return {};
  const std::size_t index = told.story.processes.front().index;
  return story::series_of(told.run, told.run.processes[index]).*measure;
}

std::vector<Json> row_of(const ToldRun& told) {
  const record::RunSummary& summary = told.run.summary;
  const std::string number = std::to_string(summary.run.id);
  const bool any = !told.story.processes.empty();
  const auto of_largest = [&](std::optional<std::uint64_t> story::ProcessStory::*value) {
    return any ? Json(told.story.processes.front().*value) : Json();
  };
  return {page::link_cell(number, number),
          summary.run.name,
          fact::name_of(told.story.diagnosis.verdict),
          summary.seconds,
          summary.processes,
          story::peak_of(summary).bytes,
          of_largest(&story::ProcessStory::steady_rss),
          of_largest(&story::ProcessStory::live),
          of_largest(&story::ProcessStory::retained),
          told.story.cleanups.returned,
          told.story.ending.brief};
}

}  // namespace

page::Document side_by_side_page(const std::vector<ToldRun>& runs) {
  using page::Unit;
  page::Document page;
  page.title = "Runs side by side";
  page::Table table;
  table.title = "Runs";
  table.note = "steady rss, live and retained are those of the largest process";
  table.columns = {column("Run", Unit::text),         column("Name", Unit::text),
                   column("Verdict", Unit::text),     column("Duration", Unit::seconds),
                   column("Processes", Unit::count),  column("Peak", Unit::bytes, true),
                   column("Steady rss", Unit::bytes), column("Live", Unit::bytes),
                   column("Retained", Unit::bytes),   column("Returned", Unit::bytes),
                   column("Outcome", Unit::text)};
  for (const ToldRun& told : runs)
    table.rows.push_back(row_of(told));
  page.tables.push_back(std::move(table));
  const bool of_many = std::any_of(runs.begin(), runs.end(), [](const ToldRun& told) {
    return told.story.processes.size() > 1;
  });
  if (of_many) {
    add_plot(page, "All processes", "rss, shared pages count in each process", runs,
             [](const ToldRun& told) { return told.story.tree.rss; });
  }
  add_plot(page, "Largest process: rss", "", runs,
           [](const ToldRun& told) { return largest(told, &story::ProcessSeries::rss); });
  add_plot(page, "Largest process: live", "", runs,
           [](const ToldRun& told) { return largest(told, &story::ProcessSeries::live); });
  add_plot(page, "Largest process: retained", "", runs,
           [](const ToldRun& told) { return largest(told, &story::ProcessSeries::retained); });
  return page;
}

}  // namespace ebb::show
