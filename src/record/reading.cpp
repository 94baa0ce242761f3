// SPDX-License-Identifier: Apache-2.0
#include "record/reading.h"

#include <algorithm>

namespace ebb::record {
namespace {

std::optional<Extent> extent_of(const std::optional<std::uint64_t>& value) {
  if (!value) return std::nullopt;
  return Extent{*value, *value, *value};
}

void merge(Extent& into, std::uint64_t count, const Extent& other, std::uint64_t other_count) {
  into.low = std::min(into.low, other.low);
  into.high = std::max(into.high, other.high);
  const auto weight = static_cast<long double>(count);
  const auto other_weight = static_cast<long double>(other_count);
  const long double sum = static_cast<long double>(into.mean) * weight +
                          static_cast<long double>(other.mean) * other_weight;
  into.mean = static_cast<std::uint64_t>(sum / (weight + other_weight) + 0.5L);
}

void merge(std::optional<Extent>& into, std::uint64_t count, const std::optional<Extent>& other,
           std::uint64_t other_count) {
  if (!other) return;
  if (!into) {
    into = other;
  } else {
    merge(*into, count, *other, other_count);
  }
}

template <class T, class Choose>
void take(std::optional<T>& into, const std::optional<T>& other, Choose choose) {
  if (other) into = into ? choose(*into, *other) : *other;
}

template <class T>
T lower(T a, T b) {
  return std::min(a, b);
}
template <class T>
T higher(T a, T b) {
  return std::max(a, b);
}

}  // namespace

Reading reading_of(const Sample& sample) {
  Reading reading;
  reading.seconds = reading.until = sample.seconds;
  reading.rss = {sample.rss, sample.rss, sample.rss};
  reading.anon = extent_of(sample.anon);
  reading.file = extent_of(sample.file);
  reading.shmem = extent_of(sample.shmem);
  reading.swap = extent_of(sample.swap);
  reading.pss = extent_of(sample.pss);
  reading.live = extent_of(sample.live);
  reading.retained = extent_of(sample.retained);
  if (sample.anon) reading.held_low = *sample.anon + sample.swap.value_or(0);
  reading.minor_faults = sample.minor_faults;
  reading.cpu_seconds = sample.cpu_seconds;
  return reading;
}

void merge(Reading& into, const Reading& other) {
  merge(into.rss, into.count, other.rss, other.count);
  merge(into.anon, into.count, other.anon, other.count);
  merge(into.file, into.count, other.file, other.count);
  merge(into.shmem, into.count, other.shmem, other.count);
  merge(into.swap, into.count, other.swap, other.count);
  merge(into.pss, into.count, other.pss, other.count);
  merge(into.live, into.count, other.live, other.count);
  merge(into.retained, into.count, other.retained, other.count);
  take(into.held_low, other.held_low, lower<std::uint64_t>);
  into.seconds = std::min(into.seconds, other.seconds);
  into.until = std::max(into.until, other.until);
  into.minor_faults = std::max(into.minor_faults, other.minor_faults);
  into.cpu_seconds = std::max(into.cpu_seconds, other.cpu_seconds);
  into.count += other.count;
}

void merge(PlaceReading& into, const PlaceReading& other) {
  PlaceSample& now = into.now;
  now.seconds = std::min(now.seconds, other.now.seconds);
  now.used = std::max(now.used, other.now.used);
  now.limit = std::min(now.limit, other.now.limit);
  now.percent = std::max(now.percent, other.now.percent);
  take(now.pressure_some, other.now.pressure_some, higher<double>);
  take(now.gpu_used, other.now.gpu_used, higher<std::uint64_t>);
  take(now.gpu_total, other.now.gpu_total, higher<std::uint64_t>);
  take(now.file_cache, other.now.file_cache, higher<std::uint64_t>);
  into.until = std::max(into.until, other.until);
  into.used_low = std::min(into.used_low, other.used_low);
  into.count += other.count;
}

void merge(Action& into, const Action& other) {
  into.seconds = std::min(into.seconds, other.seconds);
  if (into.reason != other.reason) into.reason = "several";
  into.rss_before = std::max(into.rss_before, other.rss_before);
  into.rss_after = std::min(into.rss_after, other.rss_after);
  into.returned += other.returned;
  take(into.anon_after, other.anon_after, lower<std::uint64_t>);
  take(into.live_after, other.live_after, lower<std::uint64_t>);
  take(into.retained_after, other.retained_after, lower<std::uint64_t>);
  into.cost_seconds += other.cost_seconds;
  into.deep = into.deep || other.deep;
  into.count += other.count;
}

}  // namespace ebb::record
