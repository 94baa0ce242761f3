// SPDX-License-Identifier: Apache-2.0
#include "story/process_series.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "fact/cleanup.h"
#include "story/process_ledger.h"

namespace ebb::story {
namespace {

using record::Extent;
using record::Reading;
using trend::Point;

constexpr std::size_t kCells = 1024;
// Of the usual distance: what a dense beginning has, and what is as good as usual.
constexpr double kDensePace = 0.6;
constexpr double kSamePace = 0.7;
constexpr std::size_t kEnoughPoints = 64;

/// One point per stretch of equal length: the lowest of its values, or the highest.
class EvenSeries {
 public:
  EvenSeries(double from, double until, bool highest)
      : from_(from), width_((until - from) / static_cast<double>(kCells)), highest_(highest) {}

  void add(double seconds, double value) {
    const double place = width_ > 0 ? (seconds - from_) / width_ : 0;
    const auto cell = static_cast<std::size_t>(std::clamp(place, 0.0, double{kCells}));
    if (!points_.empty() && cell == cell_) {
      Point& last = points_.back();
      if (highest_ ? value > last.value : value < last.value) last.value = value;
      return;
    }
    cell_ = cell;
    points_.push_back({seconds, value});
  }

  std::vector<Point> take() { return std::move(points_); }

 private:
  double from_, width_;
  bool highest_;
  std::size_t cell_ = 0;
  std::vector<Point> points_;
};

/// The usual distance between points from `first` to before `last`.
double pace_of(const std::vector<Point>& points, std::size_t first, std::size_t last) {
  std::vector<double> gaps;
  for (std::size_t i = std::max<std::size_t>(first, 1); i < last; ++i)
    gaps.push_back(points[i].seconds - points[i - 1].seconds);
  return gaps.empty() ? 0 : trend::median(std::move(gaps));
}

/// Jobs are sampled densely at first. The lowest of many values is lower than that of few: what is
/// closer together than at the end is left out, so that no stretch has more than another.
/// Where few would be left, as of what is read seldom, all stay.
std::vector<Point> at_one_pace(std::vector<Point> points) {
  const double usual = pace_of(points, points.size() * 3 / 4, points.size());
  if (pace_of(points, 0, points.size() / 4) >= kDensePace * usual) return points;
  std::vector<Point> kept;
  for (const Point& point : points)
    if (kept.empty() || point.seconds - kept.back().seconds >= kSamePace * usual)
      kept.push_back(point);
  return kept.size() >= kEnoughPoints ? kept : points;
}

using Value = std::function<std::optional<std::uint64_t>(const Reading&)>;

std::vector<Point> even(const std::vector<Reading>& readings, const Value& value,
                        bool highest = false) {
  if (readings.empty()) return {};
  std::vector<Point> points;
  for (const Reading& reading : readings)
    if (const auto bytes = value(reading))
      points.push_back({reading.middle(), static_cast<double>(*bytes)});
  EvenSeries series(readings.front().seconds, readings.back().until, highest);
  for (const Point& point : at_one_pace(std::move(points)))
    series.add(point.seconds, point.value);
  return series.take();
}

Value low(std::optional<Extent> Reading::*member) {
  return [member](const Reading& reading) -> std::optional<std::uint64_t> {
    const std::optional<Extent>& extent = reading.*member;
    if (!extent) return std::nullopt;
    return extent->low;
  };
}

/// A reading as one sample: the lowest of anonymous memory, the usual of the rest.
fact::ProcessSample sample_of(const Reading& reading) {
  const auto mean = [](const std::optional<Extent>& extent) -> std::optional<std::uint64_t> {
    if (!extent) return std::nullopt;
    return extent->mean;
  };
  fact::ProcessSample sample;
  sample.rss = mean(reading.rss);
  sample.anon = reading.held_low;
  sample.live = mean(reading.live);
  sample.retained = mean(reading.retained);
  return sample;
}

std::vector<double> rounds_of(const record::RecordedRun& run, const record::ProcessKey& process) {
  std::map<record::ProcessKey, std::vector<double>> ends;
  for (const record::Round& round : run.rounds)
    ends[round.process].push_back(round.seconds);
  const auto own = ends.find(process);
  if (own != ends.end()) return own->second;
  const auto most = std::max_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  return most == ends.end() ? std::vector<double>{} : most->second;
}

/// The reading of one process that holds at a moment.
class Cursor {
 public:
  explicit Cursor(const record::ProcessHistory& history) : history_(&history) {}

  /// Null before its first reading and after its end. Moments must ascend.
  const Reading* at(double seconds) {
    const auto& readings = history_->readings;
    while (next_ < readings.size() && readings[next_].seconds <= seconds) {
      if (readings[next_].pss) pss_ = readings[next_].pss->mean;
      ++next_;
    }
    if (next_ == 0) return nullptr;
    const double end = history_->process.ended.value_or(INFINITY);
    return seconds < end ? &readings[next_ - 1] : nullptr;
  }
  std::optional<std::uint64_t> pss() const { return pss_; }

 private:
  const record::ProcessHistory* history_;
  std::size_t next_ = 0;
  std::optional<std::uint64_t> pss_;  ///< read seldom: the last one holds on
};

}  // namespace

void ProcessSeries::forget_heap() {
  for (std::vector<Point>* points :
       {&live, &retained, &after_cleanup, &live_after, &retained_after, &beside})
    points->clear();
}

keep::MemorySeries ProcessSeries::view(std::optional<std::uint64_t> room) const {
  keep::MemorySeries series;
  series.rss = rss;
  series.anon = anon;
  series.peaks = peaks;
  series.file = file;
  series.shmem = shmem;
  series.live = live;
  series.retained = retained;
  series.after_cleanup = after_cleanup;
  series.live_after = live_after;
  series.retained_after = retained_after;
  series.beside = beside;
  series.private_allocators = private_allocators;
  series.round_ends = round_ends;
  series.room = room;
  series.cleanups = cleanups;
  return series;
}

ProcessSeries series_of(const record::RecordedRun& run, const record::ProcessHistory& history) {
  const std::vector<Reading>& readings = history.readings;
  const record::ProcessKey key = history.process.key();
  ProcessSeries series;
  series.rss = even(readings, low(&Reading::rss));
  series.anon = even(readings, [](const Reading& r) { return r.held_low; });
  series.peaks = even(
      readings,
      [](const Reading& r) -> std::optional<std::uint64_t> {
        if (!r.anon) return std::nullopt;
        return r.anon->high + (r.swap ? r.swap->mean : 0);
      },
      true);
  series.file = even(readings, low(&Reading::file));
  series.shmem = even(readings, low(&Reading::shmem));
  series.live = even(readings, low(&Reading::live));
  series.retained = even(readings, low(&Reading::retained));
  for (const record::Action& action : run.actions) {
    // Of a card: memory of the host was not cleaned up.
    if (action.process != key || action.cleanup.trigger == fact::Trigger::card) continue;
    const fact::ProcessSample& after = action.cleanup.after;
    const auto add = [&](std::vector<Point>& points, const std::optional<std::uint64_t>& bytes) {
      if (bytes) points.push_back({action.seconds, static_cast<double>(*bytes)});
    };
    add(series.after_cleanup, after.anon ? after.anon : after.rss);
    add(series.live_after, after.live);
    add(series.retained_after, after.retained);
  }
  series.beside = even(readings, [](const Reading& r) { return sample_of(r).beside(); });
  series.private_allocators = private_allocators_of(run, key);
  series.round_ends = rounds_of(run, key);
  series.cleanups = cleanups_of(run, key);
  return series;
}

std::optional<double> silent_since(const record::RecordedRun& run,
                                   const record::ProcessHistory& history) {
  double found = 0;
  for (const record::Event& event : run.events)
    if (event.is(record::EventKind::silent) && event.process == history.process.key())
      found = event.seconds;
  if (found == 0) return std::nullopt;
  double last_known = history.process.seconds;
  for (const Reading& reading : history.readings)
    if (reading.live) last_known = reading.until;
  if (last_known > found) return std::nullopt;
  return last_known;
}

keep::CleanupSum cleanups_of(const record::RecordedRun& run,
                             const std::optional<record::ProcessKey>& process) {
  keep::CleanupSum sum;
  std::vector<double> each;
  for (const record::Action& action : run.actions) {
    if (process && action.process != *process) continue;
    const fact::Cleanup& cleanup = action.cleanup;
    sum.count += action.count;
    sum.returned += cleanup.returned;
    sum.cost_seconds += cleanup.seconds;
    for (const base::DeviceChange& change : cleanup.devices)
      fact::add_up(sum.devices, change);
    if (cleanup.trigger != fact::Trigger::card)
      each.push_back(static_cast<double>(cleanup.returned) / static_cast<double>(action.count));
  }
  for (const double returned : each)
    sum.largest = std::max(sum.largest, static_cast<std::uint64_t>(returned));
  if (!each.empty()) sum.typical = static_cast<std::uint64_t>(trend::median(std::move(each)));
  return sum;
}

TreeSeries tree_of(const record::RecordedRun& run) {
  TreeSeries tree;
  double until = 0;
  std::size_t most_readings = 0;
  std::vector<Cursor> cursors;
  for (const record::ProcessHistory& history : run.processes) {
    if (history.readings.empty()) continue;
    until = std::max(until, history.readings.back().until);
    most_readings = std::max(most_readings, history.readings.size());
    const auto with_pss =
        std::count_if(history.readings.begin(), history.readings.end(),
                      [](const Reading& reading) { return reading.pss.has_value(); });
    tree.pss_readings = std::max(tree.pss_readings, static_cast<std::size_t>(with_pss));
    cursors.emplace_back(history);
  }
  const std::size_t moments = std::min(kCells, most_readings);
  for (std::size_t i = 1; i <= moments; ++i) {
    const double now = until * static_cast<double>(i) / static_cast<double>(moments);
    double rss = 0, held = 0, pss = 0, count = 0;
    bool pss_known = true;
    for (Cursor& cursor : cursors) {
      const Reading* reading = cursor.at(now);
      if (reading == nullptr) continue;
      ++count;
      const Extent all = reading->rss.value_or(Extent{});
      rss += static_cast<double>(all.mean);
      held += static_cast<double>(reading->held_low.value_or(all.low));
      pss_known = pss_known && cursor.pss().has_value();
      pss += static_cast<double>(cursor.pss().value_or(0));
    }
    tree.rss.push_back({now, rss});
    tree.held.push_back({now, held});
    tree.processes.push_back({now, count});
    if (pss_known && count > 0) tree.pss.push_back({now, pss});
  }
  return tree;
}

}  // namespace ebb::story
