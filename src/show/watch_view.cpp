// SPDX-License-Identifier: Apache-2.0
#include "show/watch_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/verdict.h"
#include "term/sparkline.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using term::or_dash;

constexpr std::size_t kHistoryWidth = 60;

void add_lines_of(const std::string& text, std::vector<std::string>& lines) {
  for (const std::string_view line : base::split(base::trimmed(text), '\n'))
    lines.emplace_back(line);
}

std::string history_of(const keep::ProcessWatch& watch) {
  std::vector<double> values;
  for (const trend::Point& point : watch.rss())
    values.push_back(point.value);
  // A fiftieth of the level is the least that a verdict speaks of.
  const double least_range = values.empty() ? 0 : values.back() / 50;
  return term::sparkline(values, kHistoryWidth, least_range);
}

}  // namespace

std::vector<std::string> watch_lines(const keep::ProcessWatch& watch,
                                     const keep::WatchSample& sample, const term::Style& style) {
  const sense::ProcessReading& process = sample.memory.process;
  std::vector<std::string> lines;
  lines.push_back(format_text("process    %d  watched for %s, %zu samples", watch.pid(),
                              base::duration_text(sample.seconds).c_str(), watch.samples()));
  lines.push_back("allocator  " +
                  style.paint(heap::name_of(watch.allocator().kind()), term::Colour::bold) + "  " +
                  style.paint(base::plain_line(watch.allocator().object), term::Colour::dim));
  lines.emplace_back();
  term::Table table({{"rss", term::Align::left},
                     {"anon", term::Align::left},
                     {"file", term::Align::left},
                     {"shmem", term::Align::left},
                     {"swap", term::Align::left},
                     {"gpu", term::Align::left},
                     {"threads", term::Align::left}});
  table.add_row({bytes_text(process.rss), or_dash(process.anon), or_dash(process.file),
                 or_dash(process.shmem), or_dash(process.swap), or_dash(sample.gpu),
                 std::to_string(process.threads)});
  add_lines_of(table.text(style), lines);
  lines.emplace_back();
  lines.push_back("rss        " + style.paint(history_of(watch), term::Colour::green));
  lines.push_back(format_text(
      "limit      %s (%s) %s %.1f %%", bytes_text(sample.memory.limit).c_str(),
      sense::name_of(sample.memory.source),
      style.paint(term::bar(sample.memory.percent / 100, 20), colour_of(sample.memory)).c_str(),
      sample.memory.percent));
  if (sample.processes > 1) {
    lines.push_back(format_text("tree       %zu processes, rss %s together, pss %s",
                                sample.processes, bytes_text(sample.tree_rss).c_str(),
                                or_dash(sample.tree_pss).c_str()));
  }
  for (std::string& line : diagnosis_lines(watch.diagnose(), style))
    lines.push_back(std::move(line));
  return lines;
}

base::Json watched_json(const keep::ProcessWatch& watch, const char* ending) {
  base::Json json = base::Json::object({{"pid", std::int64_t{watch.pid()}},
                                        {"allocator", heap::name_of(watch.allocator().kind())},
                                        {"ending", ending}});
  const base::Json verdict = fact::to_json(watch.diagnose());
  for (const base::Json::Member& member : *verdict.as_object())
    json.set(member.first, member.second);
  return json;
}

std::string watch_line(const keep::WatchSample& sample, const keep::ProcessDiagnosis& diagnosis) {
  const sense::ProcessReading& process = sample.memory.process;
  std::string line = format_text(
      "%8.2f s  rss %s  anon %s  file %s  swap %s  %.1f %% of %s  threads %llu", sample.seconds,
      bytes_text(process.rss).c_str(), or_dash(process.anon).c_str(), or_dash(process.file).c_str(),
      or_dash(process.swap).c_str(), sample.memory.percent, bytes_text(sample.memory.limit).c_str(),
      static_cast<unsigned long long>(process.threads));
  if (sample.gpu) line += "  gpu " + bytes_text(*sample.gpu);
  if (sample.processes > 1) {
    line += format_text("  tree of %zu %s", sample.processes, bytes_text(sample.tree_rss).c_str());
  }
  return line + "  slope " + diagnosis.rss_slope + "  " + fact::name_of(diagnosis.verdict);
}

}  // namespace ebb::show
