// SPDX-License-Identifier: Apache-2.0
#include "show/runs_view.h"

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "show/page_parts.h"
#include "show/words.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::Json;

constexpr std::size_t kLongestRunName = 40;

}  // namespace

std::string runs_text(const std::vector<record::RunSummary>& runs, const term::Style& style) {
  term::Table table({{"id"},
                     {"name", term::Align::left},
                     {"started", term::Align::left},
                     {"duration"},
                     {"processes"},
                     {"peak"},
                     {"outcome", term::Align::left}});
  for (const record::RunSummary& run : runs) {
    const story::EndingText ending = story::ending_of(run);
    const bool runs_now = run.state == record::State::running;
    const term::Colour colour = ending.bad ? term::Colour::red
                                : runs_now ? term::Colour::green
                                           : term::Colour::none;
    table.add_row({std::to_string(run.run.id), base::plain_line(run.run.name, kLongestRunName),
                   local_time_text(run.run.started), base::duration_text(run.seconds),
                   std::to_string(run.processes), story::text_of(story::peak_of(run)),
                   style.paint(ending.brief, colour)});
  }
  return table.text(style);
}

page::Document runs_page(const std::vector<record::RunSummary>& runs,
                         const std::map<std::int64_t, fact::Verdict>& verdicts) {
  page::Document document;
  document.title = "Runs";
  page::Table table;
  table.title = "The newest first";
  table.columns = {column("Run", page::Unit::text),         column("Name", page::Unit::text),
                   column("Verdict", page::Unit::text),     column("Started", page::Unit::text),
                   column("Duration", page::Unit::seconds), column("Processes", page::Unit::count),
                   column("Peak", page::Unit::bytes, true), column("Outcome", page::Unit::text)};
  table.search = true;
  table.together = "runs/";
  for (page::Column& one : table.columns)
    one.filter = one.name == "Verdict" || one.name == "Outcome";
  std::size_t running = 0;
  for (const record::RunSummary& run : runs) {
    if (run.state == record::State::running) ++running;
    const std::string number = std::to_string(run.run.id);
    const auto verdict = verdicts.find(run.run.id);
    table.rows.push_back({page::link_cell(number, "runs/" + number), run.run.name,
                          verdict == verdicts.end() ? Json() : Json(fact::name_of(verdict->second)),
                          local_time_text(run.run.started), run.seconds, run.processes,
                          story::peak_of(run).bytes, story::ending_of(run).brief});
  }
  if (runs.empty()) table.note = "Nothing is recorded yet: ebb run -- COMMAND records a run.";
  document.facts = {{"Recorded", std::to_string(runs.size())},
                    {"Running now", std::to_string(running)}};
  document.tables.push_back(std::move(table));
  return document;
}

}  // namespace ebb::show
