// SPDX-License-Identifier: Apache-2.0
#include "show/report_page.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "fact/cleanup.h"
#include "page/thin.h"
#include "show/ledger_plot.h"
#include "show/ledger_view.h"
#include "show/memory_view.h"
#include "show/page_parts.h"
#include "show/process_rows.h"
#include "show/site_view.h"
#include "show/verdict.h"
#include "show/words.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::Json;
using record::Extent;
using record::Reading;

constexpr std::size_t kMostPlots = 8;
constexpr std::size_t kMostMarks = 40;
constexpr std::size_t kMostRows = 500;
constexpr double kBeside = 0.5;  // seconds
constexpr std::size_t kMostPoints = 8000;
constexpr double kLastSeconds = 60;

void add_point(page::Line& line, double x, double y) {
  // Of one moment the last value counts.
  if (!line.x.empty() && x <= line.x.back()) return;
  line.x.push_back(x);
  line.y.push_back(y);
}

/// Merged readings are drawn from their lowest to their highest, so that no peak is lost.
page::Line line_of(const char* name, const record::ProcessHistory& history,
                   const std::function<std::optional<Extent>(const Reading&)>& extent) {
  page::Line line = sloped_line(name);
  for (const Reading& reading : history.readings) {
    const auto value = extent(reading);
    if (!value) continue;
    add_point(line, reading.seconds, static_cast<double>(value->low));
    if (reading.count > 1) add_point(line, reading.until, static_cast<double>(value->high));
  }
  return page::thinned(std::move(line), kMostPoints);
}

std::vector<page::Mark> marks_of(const record::RecordedRun& run, const record::ProcessKey& key) {
  std::vector<const record::Action*> cleanups;
  for (const record::Action& action : run.actions)
    if (action.process == key) cleanups.push_back(&action);
  std::stable_sort(cleanups.begin(), cleanups.end(), [](const auto* a, const auto* b) {
    return a->cleanup.returned > b->cleanup.returned;
  });
  if (cleanups.size() > kMostMarks) cleanups.resize(kMostMarks);
  std::vector<const record::Round*> rounds;
  for (const record::Round& round : run.rounds)
    if (round.process == key) rounds.push_back(&round);
  std::vector<page::Mark> marks;
  for (const record::Action* action : cleanups)
    marks.push_back({action->seconds, "cleanup −" + bytes_text(action->cleanup.returned)});
  const std::size_t stride = (rounds.size() + kMostMarks - 1) / kMostMarks;
  for (std::size_t i = 0; i < rounds.size(); i += std::max<std::size_t>(stride, 1)) {
    const record::Round& round = *rounds[i];
    const std::string name =
        format_text("round %llu", static_cast<unsigned long long>(round.number));
    // The cleanup that a round ended with has a mark already: it gets the name.
    const auto beside = std::find_if(marks.begin(), marks.end(), [&](const page::Mark& mark) {
      return std::abs(mark.x - round.seconds) < kBeside;
    });
    if (beside == marks.end()) {
      marks.push_back({round.seconds, name});
    } else {
      beside->label = name + ", " + beside->label;
    }
  }
  return marks;
}

page::Plot plot_of(const record::RecordedRun& run, const story::ProcessStory& process) {
  const record::ProcessHistory& history = run.processes[process.index];
  page::Plot plot = time_plot("Process " + story::name_of(process), page::Unit::bytes, "memory");
  plot.note = process.diagnosis.headline;
  plot.lines.push_back(
      line_of("rss", history, [](const Reading& r) { return std::optional(r.rss); }));
  for (page::Line& line :
       std::vector{line_of("live", history, [](const Reading& r) { return r.live; }),
                   line_of("retained", history, [](const Reading& r) { return r.retained; }),
                   line_of("pss", history, [](const Reading& r) { return r.pss; })})
    if (line.x.size() > 1) plot.lines.push_back(std::move(line));
  if (run.summary.run.limit > 0)
    plot.limit = page::Limit{"limit", static_cast<double>(run.summary.run.limit)};
  plot.marks = marks_of(run, process.process.key());
  return plot;
}

/// The largest processes, each with where its memory is below it.
void add_process_plots(const record::RecordedRun& run, const story::RunStory& story,
                       page::Document& page) {
  std::map<std::size_t, page::Plot> ledgers = ledger_plots(run, story);
  std::size_t room = kMostPlots - page.plots.size();
  for (std::size_t i = 0; i < story.processes.size() && room > 0; ++i) {
    if (story.processes[i].samples < 2) continue;
    --room;
    page.plots.push_back(plot_of(run, story.processes[i]));
    if (auto ledger = ledgers.extract(i)) page.plots.push_back(std::move(ledger.mapped()));
  }
}

page::Line place_line(
    const record::RecordedRun& run, const char* name,
    const std::function<std::optional<double>(const record::PlaceSample&)>& value) {
  page::Line line = sloped_line(name);
  for (const record::PlaceReading& place : run.place)
    if (const auto y = value(place.now)) add_point(line, place.now.seconds, *y);
  return page::thinned(std::move(line), kMostPoints);
}

std::optional<double> as_double(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes);
}

void add_place_plots(const record::RecordedRun& run, const story::RunStory& story,
                     page::Document& page) {
  using record::PlaceSample;
  const auto add = [&](page::Plot plot, std::vector<page::Line> lines) {
    for (page::Line& line : lines)
      if (line.x.size() > 1) plot.lines.push_back(std::move(line));
    if (!plot.lines.empty()) page.plots.push_back(std::move(plot));
  };
  page::Plot together = time_plot("Where it runs", page::Unit::bytes, "memory");
  together.note = "used: what cannot be reclaimed, by this job and others";
  if (!run.place.empty() && run.place.back().now.limit > 0)
    together.limit = page::Limit{"limit", static_cast<double>(run.place.back().now.limit)};
  for (const record::Event& event : run.events) {
    if (!event.is(record::EventKind::marker) && together.marks.size() < kMostMarks)
      together.marks.push_back({event.seconds, event.kind});
  }
  page::Line pss = sloped_line("all processes, pss");
  for (const trend::Point& point : story.tree.pss)
    add_point(pss, point.seconds, point.value);
  add(std::move(together),
      {place_line(run, "used", [](const PlaceSample& p) { return double(p.used); }),
       place_line(run, "file cache", [](const PlaceSample& p) { return as_double(p.file_cache); }),
       std::move(pss)});
  page::Plot gpu = time_plot("GPU", page::Unit::bytes, "memory");
  for (const record::PlaceReading& place : run.place)
    if (place.now.gpu_total) gpu.limit = page::Limit{"GPU", double(*place.now.gpu_total)};
  add(std::move(gpu),
      {place_line(run, "used", [](const PlaceSample& p) { return as_double(p.gpu_used); })});
  add(time_plot("Pressure", page::Unit::percent, "tasks wait for memory"),
      {place_line(run, "some, ten seconds", [](const PlaceSample& p) { return p.pressure_some; })});
}

/// The last minute of a run that was killed, every sample that was taken.
std::optional<page::Plot> last_minute(const record::RecordedRun& run,
                                      const story::RunStory& story) {
  if (!story.memory) return std::nullopt;
  const double from = run.summary.seconds - kLastSeconds;
  page::Plot plot = time_plot("The last minute", page::Unit::bytes, "memory");
  plot.note = "What the control group held, part by part, until " + story.ending.brief;
  if (story.memory->limit) plot.limit = page::Limit{"limit", double(*story.memory->limit)};
  for (const fact::GroupPart& part : fact::kGroupParts) {
    page::Line line = sloped_line(part.name);
    for (const record::PlaceReading& place : run.place) {
      const auto& bytes = place.now.group.*part.bytes;
      if (place.now.seconds >= from && bytes) add_point(line, place.now.seconds, double(*bytes));
    }
    const bool is_any = std::any_of(line.y.begin(), line.y.end(), [](double y) { return y > 0; });
    if (line.x.size() > 1 && is_any) plot.lines.push_back(std::move(line));
  }
  for (const record::Event& event : run.events) {
    if (event.seconds >= from && !event.is(record::EventKind::marker) &&
        plot.marks.size() < kMostMarks)
      plot.marks.push_back({event.seconds, event.kind});
  }
  if (plot.lines.empty()) return std::nullopt;
  return plot;
}

page::Table process_table(const story::RunStory& story) {
  using page::Unit;
  page::Table table;
  table.title = "Processes";
  table.columns = {column("pid", Unit::text),
                   column("process", Unit::text),
                   column("peak rss", Unit::bytes, true),
                   column("steady rss", Unit::bytes),
                   column("live", Unit::bytes),
                   column("retained", Unit::bytes),
                   column("cleanups", Unit::count),
                   column("returned", Unit::bytes),
                   column("rounds", Unit::count),
                   column("verdict", Unit::text)};
  for (const ProcessRow& row : process_rows(story, kMostRows)) {
    const story::ProcessStory& one = *row.process;
    if (story.culprit && &one == &story.processes[*story.culprit])
      table.highlight = table.rows.size();
    table.rows.push_back({Json(std::to_string(one.process.pid)), Json(row.name), Json(one.peak_rss),
                          Json(one.steady_rss), Json(one.live), Json(one.retained),
                          Json(one.cleanups.count), Json(one.cleanups.returned), Json(one.rounds),
                          Json(fact::name_of(one.diagnosis.verdict))});
  }
  return table;
}

page::Table cleanup_table(const record::RecordedRun& run) {
  using page::Unit;
  page::Table table;
  table.title = "Cleanups";
  table.columns = {column("time", Unit::seconds),    column("pid", Unit::text),
                   column("why", Unit::text),        column("rss before", Unit::bytes),
                   column("rss after", Unit::bytes), column("returned", Unit::bytes, true),
                   column("took", Unit::seconds),    column("count", Unit::count)};
  const bool on_devices =
      std::any_of(run.actions.begin(), run.actions.end(),
                  [](const record::Action& action) { return !action.cleanup.devices.empty(); });
  if (on_devices) table.columns.push_back(column("on devices", Unit::bytes, true));
  const std::size_t first = run.actions.size() > kMostRows ? run.actions.size() - kMostRows : 0;
  if (first > 0) table.note = format_text("the newest %zu", kMostRows);
  for (std::size_t i = first; i < run.actions.size(); ++i) {
    const record::Action& action = run.actions[i];
    const fact::Cleanup& cleanup = action.cleanup;
    table.rows.push_back({Json(action.seconds), Json(std::to_string(action.process.pid)),
                          Json(fact::name_of(cleanup.trigger)), Json(cleanup.before.rss),
                          Json(cleanup.after.rss), Json(cleanup.returned), Json(cleanup.seconds),
                          Json(action.count)});
    if (on_devices) table.rows.back().emplace_back(fact::returned_by(cleanup.devices));
  }
  return table;
}

/// Of those that are markers, or of those that are not.
page::Table event_table(const record::RecordedRun& run, bool markers) {
  page::Table table;
  table.title = markers ? "RSS markers" : "Events";
  table.columns = {column("time", page::Unit::seconds), column("what", page::Unit::text),
                   column("pid", page::Unit::text), column("text", page::Unit::text)};
  for (const record::Event& event : run.events) {
    if (event.is(record::EventKind::marker) != markers) continue;
    if (table.rows.size() == kMostRows) break;
    table.rows.push_back({Json(event.seconds), Json(event.kind),
                          event.process ? Json(std::to_string(event.process->pid)) : Json(),
                          Json(event.text)});
  }
  return table;
}

}  // namespace

page::Document page_of_run(const record::RecordedRun& run, const story::RunStory& story) {
  const record::RunSummary& summary = run.summary;
  page::Document page;
  page.title = format_text("Run %lld", static_cast<long long>(summary.run.id)) +
               (summary.run.name.empty() ? "" : ": " + summary.run.name);
  page.subtitle = joined(summary.run.command) + "  ·  " + local_time_text(summary.run.started);
  if (!summary.run.host.empty()) page.subtitle += " on " + summary.run.host;
  page.facts = {{"recorded", base::duration_text(summary.seconds)},
                {"outcome", story.ending.brief},
                {story::peak_of(summary).of_group ? "peak of its control group" : "peak rss",
                 story::text_of(story::peak_of(summary))},
                {"processes", std::to_string(summary.processes)},
                {"returned by cleanups",
                 fact::returned_text(story.cleanups.returned, story.cleanups.devices)},
                {"their share of the time", format_text("%.2f %%", 100 * story.cleanup_share)}};
  page.verdict = card_of(story.diagnosis);
  if (auto plot = last_minute(run, story)) page.plots.push_back(*std::move(plot));
  add_process_plots(run, story, page);
  add_place_plots(run, story, page);
  page::FlameGraph sites = sites_flame(story, story::site_history_of(run));
  if (!sites.stacks.empty()) page.flames.push_back(std::move(sites));
  if (story.memory) page.tables.push_back(split_table(*story.memory));
  page.tables.push_back(process_table(story));
  if (page::Table parts = ledger_table(story, kMostRows); !parts.rows.empty())
    page.tables.push_back(std::move(parts));
  if (!run.actions.empty()) page.tables.push_back(cleanup_table(run));
  for (const bool markers : {false, true}) {
    if (page::Table events = event_table(run, markers); !events.rows.empty())
      page.tables.push_back(std::move(events));
  }
  return page;
}

}  // namespace ebb::show
