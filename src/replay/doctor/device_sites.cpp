// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/device_sites.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/bytes.h"
#include "replay/doctor/held_over_time.h"
#include "replay/doctor/site_lines.h"
#include "replay/doctor/site_numbers.h"

namespace ebb::replay {
namespace {

constexpr std::uint64_t kLeastBytes = base::kMiB;
constexpr double kLeastShareShown = 0.01;
// A place that grows is at least this share of all growth.
constexpr double kLeastGrowthShare = 0.02;
// As many as a page has room for; less than this share of what is held could not be seen there.
constexpr std::size_t kMostPlaces = 400;
constexpr std::uint64_t kSmallestPart = 2000;

double share_of(std::uint64_t bytes, std::uint64_t all) {
  return all == 0 ? 0 : std::min(static_cast<double>(bytes) / static_cast<double>(all), 1.0);
}

/// When an operation was recorded, in seconds of the history.
class Clock {
 public:
  Clock(const trace::Snapshot& snapshot, int device, const Workload& workload)
      : history_(history_of(snapshot, device)),
        workload_(workload),
        has_times_(snapshot.has_times && !history_.empty()) {}

  std::optional<double> seconds_of(std::uint32_t operation) const {
    if (!has_times_) return std::nullopt;
    if (operation < workload_.first_recorded) return 0;
    const trace::Event& event = history_[workload_.operations[operation].event];
    // Times are as wrong as whoever made the snapshot likes.
    const double seconds =
        (static_cast<double>(event.time_us) - static_cast<double>(history_.front().time_us)) / 1e6;
    return std::max(seconds, 0.0);
  }

 private:
  const std::vector<trace::Event>& history_;
  const Workload& workload_;
  const bool has_times_;
};

std::optional<double> step_seconds(const Clock& clock, const HeldOverTime::Steps& steps) {
  if (!steps.are_enough) return std::nullopt;
  const auto from = clock.seconds_of(steps.begins[steps.settled]);
  const auto to = clock.seconds_of(steps.begins.back());
  if (!from || !to || *to <= *from) return std::nullopt;
  return (*to - *from) /
         static_cast<double>((steps.begins.size() - 1 - steps.settled) * steps.stride);
}

/// What every number held just after an operation, and when it first allocated.
struct Holdings {
  std::vector<HeldBlocks> held;
  std::vector<std::uint32_t> first;
};

Holdings holdings_at(const NumberedBlocks& blocks, std::uint32_t operation) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  Holdings holdings{std::vector<HeldBlocks>(blocks.count),
                    std::vector<std::uint32_t>(blocks.count, kNever)};
  for (std::size_t i = 0; i < blocks.lives.size(); ++i) {
    const Lifetime& life = blocks.lives[i];
    if (life.bytes == 0) continue;
    const std::uint32_t number = blocks.number[i];
    holdings.first[number] = std::min(holdings.first[number], life.first);
    if (life.first > operation || operation >= life.released) continue;
    holdings.held[number].bytes += life.bytes;
    ++holdings.held[number].blocks;
  }
  return holdings;
}

/// Who held most, now or at one of the moments, the most first; without those that are no places.
std::vector<std::uint32_t> largest_of(const HeldOverTime& held, const Holdings& now) {
  std::vector<std::uint64_t> most = held.most();
  for (std::size_t number = 0; number < most.size(); ++number)
    most[number] = std::max(most[number], now.held[number].bytes);
  const std::uint64_t least = *std::max_element(most.begin(), most.end()) / kSmallestPart;
  std::vector<std::uint32_t> places;
  for (std::uint32_t number = SiteNumbers::kPlaces; number < most.size(); ++number)
    if (most[number] > least) places.push_back(number);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return most[a] > most[b]; });
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return places;
}

bool holds_any(const DeviceHolder& holder) {
  return holder.bytes > 0 || std::any_of(holder.over_time.begin(), holder.over_time.end(),
                                         [](std::uint64_t bytes) { return bytes > 0; });
}

void subtract(std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& amounts) {
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] -= amounts[i];
}

/// Tells the sites of a job once.
class SiteTeller {
 public:
  SiteTeller(const trace::Snapshot& snapshot, int device, const Workload& workload)
      : snapshot_(snapshot),
        device_(device),
        workload_(workload),
        clock_(snapshot, device, workload),
        stacks_(snapshot, device, workload),
        lives_(blocks_of(workload)),
        by_stack_(numbered_by_stack()),
        lines_(stacks_),
        by_line_(numbered_by_line()) {}

  DeviceSites tell(HeldAt at, std::uint32_t operation) && {
    told_.at = at;
    const Holdings now = holdings_at(by_stack_, operation);
    told_.has_stacks = stacks_.size() > SiteNumbers::kPlaces;
    told_.no_stack = now.held[SiteNumbers::kNoStack];
    told_.before_history = now.held[SiteNumbers::kBeforeHistory];
    for (const HeldBlocks& held : now.held) {
      told_.live.bytes += held.bytes;
      told_.live.blocks += held.blocks;
    }
    if (!told_.has_stacks) return std::move(told_);
    const JobSteps job = steps_of(snapshot_, device_, workload_);
    const HeldOverTime held(workload_, job, by_line_);
    const PlaceGrowth growth(held);
    told_.step_seconds = step_seconds(clock_, held.steps());
    tell_sites(held, growth, holdings_at(by_line_, operation));
    tell_holders(HeldOverTime(workload_, job, by_stack_), growth, now);
    return std::move(told_);
  }

 private:
  static std::vector<Lifetime> blocks_of(const Workload& workload) {
    std::vector<Lifetime> lives = lifetimes_of(workload);
    lives.resize(workload.blocks);  // requests that failed hold nothing
    return lives;
  }

  NumberedBlocks numbered_by_stack() {
    NumberedBlocks blocks{lives_, {}, 0};
    for (const Lifetime& life : lives_)
      blocks.number.push_back(life.bytes == 0 ? SiteNumbers::kNoStack : stacks_.number_of(life));
    blocks.count = stacks_.size();
    return blocks;
  }

  NumberedBlocks numbered_by_line() const {
    NumberedBlocks blocks{lives_, by_stack_.number, lines_.size()};
    for (std::uint32_t& number : blocks.number)
      number = lines_.line_of(number);
    return blocks;
  }

  void tell_sites(const HeldOverTime& held, const PlaceGrowth& growth, const Holdings& now) {
    grows_by_kept_.resize(lines_.size());
    const std::vector<std::uint32_t> asked = largest_of(held, now);
    const HeldOverTime::Rows rows = held.rows_of(asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const std::uint32_t line = asked[i];
      DeviceSite site;
      site.frames = lines_.calls_of(line);
      site.has_other_callers = lines_.has_other_callers(line);
      site.held = now.held[line];
      site.share = share_of(site.held.bytes, told_.live.bytes);
      site.since = clock_.seconds_of(now.first[line]);
      site.growth = growth.of(rows.over_time[i], rows.kept[i]);
      if (site.growth && site.growth->share < kLeastGrowthShare) site.growth.reset();
      if (site.growth) grows_by_kept_[line] = site.growth->by_kept;
      const bool holds_much = site.held.bytes >= kLeastBytes && site.share >= kLeastShareShown;
      if (site.growth || holds_much) told_.sites.push_back(std::move(site));
    }
    std::stable_sort(
        told_.sites.begin(), told_.sites.end(), [](const DeviceSite& a, const DeviceSite& b) {
          const auto rank = [](const DeviceSite& site) {
            return std::pair(site.growth ? site.growth->per_step : 0.0, site.held.bytes);
          };
          return rank(a) > rank(b);
        });
  }

  void tell_holders(const HeldOverTime& held, const PlaceGrowth& growth, const Holdings& now) {
    told_.moments = held.moments();
    std::vector<std::uint32_t> asked = largest_of(held, now);
    asked.insert(asked.end(), {SiteNumbers::kNoStack, SiteNumbers::kBeforeHistory});
    HeldOverTime::Rows rows = held.rows_of(asked);
    DeviceHolder rest;
    rest.kind = DeviceHolder::Kind::smaller_places;
    rest.bytes = told_.live.bytes;
    rest.over_time = held.totals();
    for (std::size_t i = 0; i < asked.size(); ++i) {
      DeviceHolder holder;
      holder.kind = kind_of(asked[i]);
      holder.bytes = now.held[asked[i]].bytes;
      if (holder.kind == DeviceHolder::Kind::place) {
        holder.frames = stacks_.calls_of(asked[i]);
        const std::optional<bool> by_kept = grows_by_kept_[lines_.line_of(asked[i])];
        if (by_kept) holder.per_step = growth.part_of(*by_kept, rows.over_time[i], rows.kept[i]);
      }
      rest.bytes -= holder.bytes;
      subtract(rest.over_time, rows.over_time[i]);
      holder.over_time = std::move(rows.over_time[i]);
      if (holds_any(holder)) told_.holders.push_back(std::move(holder));
    }
    if (holds_any(rest)) told_.holders.push_back(std::move(rest));
  }

  static DeviceHolder::Kind kind_of(std::uint32_t number) {
    if (number == SiteNumbers::kNoStack) return DeviceHolder::Kind::no_stack;
    return number == SiteNumbers::kBeforeHistory ? DeviceHolder::Kind::before_history
                                                 : DeviceHolder::Kind::place;
  }

  const trace::Snapshot& snapshot_;
  const int device_;
  const Workload& workload_;
  const Clock clock_;
  SiteNumbers stacks_;
  const std::vector<Lifetime> lives_;
  const NumberedBlocks by_stack_;
  const SiteLines lines_;
  const NumberedBlocks by_line_;
  /// Of each line that grows.
  std::vector<std::optional<bool>> grows_by_kept_;
  DeviceSites told_;
};

}  // namespace

const char* name_of(HeldAt at) {
  switch (at) {
    case HeldAt::failure:
      return "failure";
    case HeldAt::peak:
      return "peak";
    case HeldAt::end:
      break;
  }
  return "end";
}

std::optional<DeviceSites::GrowingPlace> DeviceSites::growing_place() const {
  std::map<std::string, GrowingPlace> places;
  std::optional<GrowingPlace> most;
  for (const DeviceSite& site : sites) {
    if (!site.growth) continue;
    const std::string text = fact::place_of(site.frames);
    GrowingPlace& place = places[text];
    place = {text, place.per_step + site.growth->per_step,
             std::min(place.share + site.growth->share, 1.0)};
    if (!most || place.per_step > most->per_step) most = place;
  }
  return most;
}

DeviceSites device_sites(const trace::Snapshot& snapshot, int device, const Workload& workload,
                         HeldAt at, std::uint32_t operation) {
  return SiteTeller(snapshot, device, workload).tell(at, operation);
}

}  // namespace ebb::replay
