// SPDX-License-Identifier: Apache-2.0
#include "show/memory_view.h"

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/page_parts.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;

constexpr std::size_t kMostShares = 8;
constexpr std::size_t kLongestShare = 60;
constexpr std::size_t kWidthOfShare = 20;
constexpr const char* kIndent = "           ";

/// "255.1 MiB of 256.0 MiB, 40 ms before the end".
std::string whole_text(const fact::MemorySplit& split) {
  std::string text = bytes_text(split.usage);
  if (split.limit) text += " of " + bytes_text(*split.limit);
  if (split.age) text += ", " + base::duration_text(*split.age) + " before the end";
  return text;
}

std::string after_text(const fact::MemorySplit& split) {
  if (!split.after) return "";
  return "after that, by the kernel's own report: " + base::signed_bytes_text(*split.after);
}

/// One process of those that hold it.
std::string share_text(const fact::MemorySplit::Share& share) {
  std::string text = format_text("process %d", share.pid);
  if (!share.name.empty()) text += " (" + base::plain_line(share.name, kLongestShare) + ")";
  return text;
}

double share_of(std::uint64_t bytes, const fact::MemorySplit& split) {
  return split.usage > 0 ? static_cast<double>(bytes) / static_cast<double>(split.usage) : 0;
}

/// What is live in a process, place by place: the rows of a page add up. Places count what was
/// asked for, which may be more than what was touched.
void add_live(const std::string& part, const fact::MemorySplit::Share& share,
              const std::function<void(const std::string&, std::uint64_t)>& add) {
  const std::string process = part + ", " + share_text(share);
  std::uint64_t left = share.live.value_or(0);
  const auto places = share.sites.value_or(std::vector<fact::SiteShare>());
  for (const fact::SiteShare& site : places) {
    const std::uint64_t bytes = std::min(site.bytes, left);
    if (bytes > 0) add(process + ", " + site.place, bytes);
    left -= bytes;
  }
  if (left > 0) add(places.empty() ? process : process + ", elsewhere", left);
}

}  // namespace

std::string split_text(const fact::MemorySplit& split, const term::Style& style) {
  using term::Align;
  term::Table table({{"what", Align::left}, {"bytes"}, {"share"}, {"", Align::left}});
  const auto add = [&](const std::string& label, std::uint64_t bytes) {
    const double share = std::min(share_of(bytes, split), 1.0);
    table.add_row({label, bytes_text(bytes), format_text("%.1f %%", 100 * share),
                   style.paint(term::bar(share, kWidthOfShare), term::Colour::green)});
  };
  for (const fact::MemorySplit::Part& part : split.parts()) {
    if (part.bytes.value_or(0) == 0) continue;
    add(part.label, *part.bytes);
    const std::string_view name = part.name;
    std::size_t shown = 0;
    for (const fact::MemorySplit::Share& share : split.processes) {
      const bool is_here = name == "live" ? share.live.has_value()
                                          : name == "unexplained" && !share.live.has_value();
      const std::uint64_t bytes = share.live.value_or(share.bytes);
      if (!is_here || bytes == 0 || shown++ >= kMostShares) continue;
      table.add_row({"  " + share_text(share), bytes_text(bytes)});
      for (const fact::SiteShare& site : share.sites.value_or(std::vector<fact::SiteShare>()))
        table.add_row(
            {"    " + base::plain_line(site.place, kLongestShare), bytes_text(site.bytes)});
    }
  }
  std::string text = "memory     " + whole_text(split) + "\n";
  const std::string rows = table.text(style);
  for (const std::string_view line : base::split(rows, '\n'))
    if (!line.empty()) text += kIndent + std::string(line) + "\n";
  std::vector<std::string> notes = split.notes;
  if (split.after) notes.insert(notes.begin(), after_text(split));
  for (const std::string& note : notes)
    text += kIndent + std::string("- ") + base::plain_line(note) + "\n";
  return text;
}

page::Table split_table(const fact::MemorySplit& split) {
  using base::Json;
  page::Table table;
  table.title = "What the memory was";
  table.note = whole_text(split);
  if (split.after) table.note += "; " + after_text(split);
  if (!split.fix.text.empty()) table.note += ". Enough: " + split.fix.text;
  table.columns = {column("what", page::Unit::text), column("bytes", page::Unit::bytes, true),
                   column("share", page::Unit::percent)};
  const auto add = [&](const std::string& label, std::uint64_t bytes) {
    table.rows.push_back({Json(label), Json(bytes), Json(100 * share_of(bytes, split))});
  };
  for (const fact::MemorySplit::Part& part : split.parts()) {
    if (part.bytes.value_or(0) == 0) continue;
    const bool is_live = std::string_view(part.name) == "live";
    if (!is_live) {
      add(part.label, *part.bytes);
      continue;
    }
    for (const fact::MemorySplit::Share& share : split.processes)
      if (share.live.value_or(0) > 0) add_live(std::string(part.label), share, add);
  }
  return table;
}

}  // namespace ebb::show
