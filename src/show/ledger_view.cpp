// SPDX-License-Identifier: Apache-2.0
#include "show/ledger_view.h"

#include <algorithm>

#include "base/plain_text.h"
#include "show/page_parts.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using term::or_dash;

constexpr const char* kTotal = "rss + swap";

std::vector<term::Table::Column> columns_of(const fact::Ledger& ledger) {
  std::vector<term::Table::Column> columns{{kTotal}};
  for (const fact::Ledger::Part& part : ledger.parts())
    columns.push_back({part.name});
  return columns;
}

void add_cells(const fact::Ledger& ledger, std::vector<std::string>& row) {
  row.push_back(or_dash(ledger.total));
  for (const fact::Ledger::Part& part : ledger.parts())
    row.push_back(or_dash(part.bytes));
}

}  // namespace

std::string ledger_text(const fact::Ledger& ledger, const term::Style& style) {
  term::Table table(columns_of(ledger));
  std::vector<std::string> row;
  add_cells(ledger, row);
  table.add_row(row);
  std::string text = table.text(style);
  for (const std::string& note : ledger.notes)
    text += "           " + style.paint(base::plain_line(note), term::Colour::dim) + "\n";
  return text;
}

std::string ledgers_text(const story::RunStory& story, std::size_t most, const term::Style& style) {
  std::vector<term::Table::Column> columns = columns_of({});
  columns.insert(columns.begin(), term::Table::Column{"pid"});
  term::Table table(std::move(columns));
  bool is_any = false;
  for (std::size_t i = 0; i < std::min(story.processes.size(), most); ++i) {
    const story::ProcessStory& one = story.processes[i];
    if (!one.ledger.total) continue;
    is_any = true;
    std::vector<std::string> row{std::to_string(one.process.pid)};
    add_cells(one.ledger, row);
    table.add_row(row);
  }
  return is_any ? table.text(style) : "";
}

page::Table ledger_table(const story::RunStory& story, std::size_t most) {
  using base::Json;
  page::Table table;
  table.title = "Where the memory is";
  table.note = "The parts add up to rss and swap; what is not known is in unexplained.";
  table.columns = {column("pid", page::Unit::text), column(kTotal, page::Unit::bytes, true)};
  for (const fact::Ledger::Part& part : fact::Ledger{}.parts())
    table.columns.push_back(column(part.name, page::Unit::bytes));
  for (const story::ProcessStory& one : story.processes) {
    if (table.rows.size() == most) break;
    if (!one.ledger.total) continue;
    std::vector<Json> row{Json(std::to_string(one.process.pid)), Json(one.ledger.total)};
    for (const fact::Ledger::Part& part : one.ledger.parts())
      row.emplace_back(part.bytes);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace ebb::show
