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
  for (const Part& part : kParts)
    reading.*part.merged = extent_of(sample.memory.*part.sampled);
  reading.held_low = sample.memory.held();
  reading.minor_faults = sample.minor_faults;
  reading.cpu_seconds = sample.cpu_seconds;
  return reading;
}

void merge(Reading& into, const Reading& other) {
  for (const Part& part : kParts)
    merge(into.*part.merged, into.count, other.*part.merged, other.count);
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
  for (const fact::GroupPart& part : fact::kGroupParts)
    take(now.group.*part.bytes, other.now.group.*part.bytes, higher<std::uint64_t>);
  into.until = std::max(into.until, other.until);
  into.used_low = std::min(into.used_low, other.used_low);
  into.count += other.count;
}

void merge(Action& into, const Action& other) {
  into.seconds = std::min(into.seconds, other.seconds);
  fact::Cleanup& sum = into.cleanup;
  const fact::Cleanup& more = other.cleanup;
  if (sum.trigger != more.trigger) sum.trigger = fact::Trigger::several;
  take(sum.before.rss, more.before.rss, higher<std::uint64_t>);
  for (const Part& part : kParts)
    take(sum.after.*part.sampled, more.after.*part.sampled, lower<std::uint64_t>);
  sum.returned += more.returned;
  sum.seconds += more.seconds;
  sum.depth = std::max(sum.depth, more.depth);
  for (const base::DeviceChange& change : more.devices)
    fact::add_up(sum.devices, change);
  into.count += other.count;
}

}  // namespace ebb::record
