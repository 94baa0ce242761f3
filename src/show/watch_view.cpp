// SPDX-License-Identifier: Apache-2.0
#include "show/watch_view.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "show/verdict.h"
#include "story/site_story.h"
#include "term/sparkline.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using term::or_dash;

constexpr std::size_t kHistoryWidth = 60;
constexpr std::size_t kMostPlaces = 5;

/// A place in the code, whoever called it.
struct HeldPlace {
  std::string text;
  std::uint64_t bytes = 0;
  std::int64_t grown = 0;
};

/// The places that hold most, the most first, few.
std::vector<HeldPlace> places_of(const std::vector<run::LiveSite>& sites) {
  std::map<std::string, HeldPlace> all;
  for (const run::LiveSite& site : sites) {
    const std::string text = base::plain_line(fact::place_of(site.frames));
    HeldPlace& place = all[text];
    place = {text, place.bytes + site.bytes, place.grown + site.grown};
  }
  std::vector<HeldPlace> places;
  for (const auto& [text, place] : all)
    places.push_back(place);
  std::stable_sort(places.begin(), places.end(),
                   [](const HeldPlace& a, const HeldPlace& b) { return a.bytes > b.bytes; });
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return places;
}

void add_sites(const WatchedSites& sites, std::vector<std::string>& lines) {
  if (!sites) return;
  const std::vector<HeldPlace> places = places_of(*sites);
  if (places.empty()) lines.emplace_back("held by    no sample so far");
  for (const HeldPlace& place : places) {
    lines.push_back(format_text("%-11s%10s  %12s  %s", &place == places.data() ? "held by" : "",
                                bytes_text(place.bytes).c_str(),
                                base::signed_bytes_text(place.grown).c_str(), place.text.c_str()));
  }
}

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
                                     const keep::WatchSample& sample, const WatchedSites& sites,
                                     const term::Style& style) {
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
  add_sites(sites, lines);
  for (std::string& line : diagnosis_lines(watch.diagnose(), style))
    lines.push_back(std::move(line));
  return lines;
}

base::Json watch_json(const keep::WatchSample& sample, const WatchedSites& sites) {
  base::Json json = to_json(sample);
  base::Json places;
  if (sites) places = base::Json::array();
  for (const HeldPlace& place : places_of(sites.value_or(std::vector<run::LiveSite>())))
    places.push(base::Json::object(
        {{"place", place.text}, {"bytes", place.bytes}, {"growth_bytes", place.grown}}));
  return json.set("sites", std::move(places));
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

std::string watch_line(const keep::WatchSample& sample, const WatchedSites& sites,
                       const keep::ProcessDiagnosis& diagnosis) {
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
  line += "  slope " + diagnosis.rss_slope + "  " + fact::name_of(diagnosis.verdict);
  if (sites && !sites->empty()) {
    const HeldPlace most = places_of(*sites).front();
    line += "  " + bytes_text(most.bytes) + " held by " + most.text;
  }
  return line;
}

}  // namespace ebb::show
