// SPDX-License-Identifier: Apache-2.0
#include "story/site_story.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "story/site_looks.h"
#include "trend/assessment.h"

namespace ebb::story {
namespace {

constexpr std::uint64_t kLeastSamples = 4;
// Of what it holds: four samples of small blocks come to that, and one of a large block to nothing.
constexpr double kLargestError = 0.5;
constexpr std::uint64_t kLeastBytes = 1 << 20;
constexpr double kLeastShare = 0.01;
// A site that grows is at least this share of its process's growth.
constexpr double kLeastGrowthShare = 0.02;
// With fewer samples the estimate itself is a guess.
constexpr std::uint64_t kManySamples = 16;
// Beside what a killed process held.
constexpr std::size_t kMostPlaces = 3;
// Of what all places hold, what one has to have grown by of late to lead them.
constexpr double kShareThatLeads = 0.1;

/// One site over time: bytes, and of the last look what it rests on.
struct Series {
  std::map<double, double> bytes;
  double seen = -1;
  std::uint64_t samples = 0;
  double variance = 0;
};

/// From the look before the site was first seen on: what a program does before it gets there says
/// nothing about how the site goes on.
std::vector<trend::Point> points_of(const Series& series, const SiteLooks& looks) {
  std::vector<trend::Point> points;
  for (const trend::Point& look : looks.totals) {
    const auto at = series.bytes.find(look.seconds);
    points.push_back({look.seconds, at == series.bytes.end() ? 0 : at->second});
  }
  const auto first = std::find_if(points.begin(), points.end(),
                                  [](const trend::Point& point) { return point.value > 0; });
  if (first != points.end() && first != points.begin()) points.erase(points.begin(), first - 1);
  return points;
}

std::optional<trend::Slope> growth_of(const std::vector<trend::Point>& points, double error) {
  const trend::Assessment assessment = trend::assess(points);
  const trend::Effect effect{0.02, std::max<double>(kLeastBytes, 2 * error)};
  if (!trend::grows(assessment, effect)) return std::nullopt;
  return assessment.slope;
}

fact::Confidence confidence_of(const SiteStory& site) {
  if (site.growth->low <= 0 || site.samples < kLeastSamples) return fact::Confidence::low;
  const bool is_narrow = site.growth->low > site.growth->per_second / 2;
  return is_narrow && site.samples >= kManySamples ? fact::Confidence::high
                                                   : fact::Confidence::medium;
}

using SiteKey = std::pair<record::ProcessKey, std::uint32_t>;

}  // namespace

std::optional<GrowingPlace> SitesStory::growing_place(const record::ProcessKey& process) const {
  std::map<std::string, GrowingPlace> places;
  std::optional<GrowingPlace> most;
  for (const SiteStory& site : sites) {
    if (site.process != process || !site.growth) continue;
    const std::string text = place_of(site.frames);
    GrowingPlace& place = places[text];
    place = {text, place.per_second + site.growth->per_second,
             std::min(place.share + site.growth_share, 1.0)};
    if (!most || place.per_second > most->per_second) most = place;
  }
  return most;
}

std::vector<fact::SiteShare> SitesStory::holding_places(const record::ProcessKey& process) const {
  struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t of_late = 0;
  };
  std::map<std::string, Held> held;
  double all = 0;
  for (const SiteStory& site : sites) {
    if (site.process != process) continue;
    Held& place = held[place_of(site.frames)];
    place.bytes += site.bytes;
    place.of_late += site.of_late;
    all += static_cast<double>(site.bytes);
  }
  std::vector<fact::SiteShare> places;
  for (const auto& [place, one] : held)
    places.push_back({place, one.bytes});
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  const auto latest = std::max_element(places.begin(), places.end(),
                                       [&](const fact::SiteShare& a, const fact::SiteShare& b) {
                                         return held[a.place].of_late < held[b.place].of_late;
                                       });
  if (latest != places.end() &&
      static_cast<double>(held[latest->place].of_late) > kShareThatLeads * all)
    std::rotate(places.begin(), latest, latest + 1);
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return places;
}

SitesStory sites_of(const record::RecordedRun& run) {
  SitesStory story;
  if (run.samplings.empty()) return story;
  story.sampling.emplace();
  std::map<record::ProcessKey, const record::Sampling*> last;
  for (const record::Sampling& sampling : run.samplings)
    last[sampling.process] = &sampling;
  for (const auto& [process, sampling] : last) {
    ++story.sampling->processes;
    story.sampling->samples += sampling->samples;
    story.sampling->dropped += sampling->dropped;
    story.sampling->no_python += sampling->no_python;
    story.sampling->spent_seconds += sampling->spent_seconds;
  }
  for (const record::Event& event : run.events)
    if (event.is(record::EventKind::no_room))
      story.sampling->no_room =
          base::parse_unsigned(event.text.substr(0, event.text.find(' '))).value_or(0);
  const std::map<record::ProcessKey, SiteLooks> looks = site_looks_of(run);
  std::map<SiteKey, const fact::SiteStack*> names;
  for (const record::SiteName& name : run.site_names)
    names[{name.process, name.number}] = &name.frames;
  // Stacks that read alike are one site: their calls return to different instructions of a line.
  std::map<std::pair<record::ProcessKey, std::string>, std::pair<SiteStory, Series>> sites;
  for (const record::Site& row : run.sites) {
    const auto process = looks.find(row.process);
    if (process == looks.end() || !process->second.holds(row.seconds)) continue;
    const auto name = names.find({row.process, row.number});
    const fact::SiteStack frames = name == names.end() ? fact::SiteStack() : *name->second;
    auto& [site, series] = sites[{row.process, reading_of(frames)}];
    site.process = row.process;
    site.frames = frames;
    series.bytes[row.seconds] += static_cast<double>(row.bytes);
    if (row.seconds > series.seen) {
      series.seen = row.seconds;
      series.samples = 0;
      series.variance = 0;
    }
    if (row.seconds == series.seen) {
      series.samples += row.samples;
      series.variance += static_cast<double>(row.error) * static_cast<double>(row.error);
    }
  }
  for (auto& [key, one] : sites) {
    auto& [site, series] = one;
    const SiteLooks& seen = looks.at(site.process);
    const std::vector<trend::Point> points = points_of(series, seen);
    const double total = seen.totals.back().value;
    site.bytes = static_cast<std::uint64_t>(points.back().value);
    site.samples = series.samples;
    const double before = points[points.size() / 2].value;
    site.of_late = static_cast<std::uint64_t>(std::max(points.back().value - before, 0.0));
    const auto first = std::find_if(points.begin(), points.end(),
                                    [](const trend::Point& point) { return point.value > 0; });
    site.since = first != points.end() ? first->seconds : points.back().seconds;
    site.share = total > 0 ? std::min(points.back().value / total, 1.0) : 0;
    const double error = std::sqrt(series.variance);
    if (site.samples == 0 || error > kLargestError * points.back().value) continue;
    site.growth = growth_of(points, error);
    if (site.growth) {
      const auto all = trend::theil_sen(seen.totals);
      const double pace = all ? all->per_second : 0;
      site.growth_share = pace > 0 ? std::clamp(site.growth->per_second / pace, 0.0, 1.0) : 0;
      if (site.growth_share < kLeastGrowthShare) site.growth.reset();
    }
    if (site.growth) site.confidence = confidence_of(site);
    if (site.growth || (site.bytes >= kLeastBytes && site.share >= kLeastShare))
      story.sites.push_back(site);
  }
  std::stable_sort(story.sites.begin(), story.sites.end(),
                   [](const SiteStory& a, const SiteStory& b) {
                     const auto rank = [](const SiteStory& site) {
                       return std::pair(site.growth ? site.growth->per_second : 0.0, site.bytes);
                     };
                     return rank(a) > rank(b);
                   });
  return story;
}

void add_json(base::Json& json, const SitesStory& story) {
  using base::Json;
  if (!story.sampling) {
    json.set("sampling", Json()).set("sites", Json());
    return;
  }
  const SamplingStory& sampling = *story.sampling;
  json.set("sampling", Json::object({{"processes", sampling.processes},
                                     {"processes_without_room", sampling.no_room},
                                     {"samples", sampling.samples},
                                     {"dropped", sampling.dropped},
                                     {"without_python_frames", sampling.no_python},
                                     {"cost_seconds", sampling.spent_seconds}}));
  Json sites = Json::array();
  for (const SiteStory& site : story.sites) {
    Json range;
    if (site.growth) {
      range = Json::array();
      range.push(site.growth->low).push(site.growth->high);
    }
    Json one;
    one.set("pid", std::int64_t{site.process.pid})
        .set("place", place_of(site.frames))
        .set("bytes", site.bytes)
        .set("share", site.share)
        .set("samples", site.samples)
        .set("since_seconds", site.since)
        .set("growth_bytes_per_second", site.growth ? Json(site.growth->per_second) : Json())
        .set("growth_range", std::move(range))
        .set("growth_share", site.growth ? Json(site.growth_share) : Json())
        .set("confidence", site.growth ? Json(fact::name_of(site.confidence)) : Json())
        .set("frames", to_json(site.frames));
    sites.push(std::move(one));
  }
  json.set("sites", std::move(sites));
}

}  // namespace ebb::story
