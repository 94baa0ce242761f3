// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/step_growth.h"

#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "trace/steps.h"

namespace ebb::replay {
namespace {

constexpr double kLeastRise = 0.01;
constexpr std::uint64_t kLeastRiseBytes = base::kMiB;

/// The first operation of every step; an operation belongs to the event it was read from.
std::vector<std::uint32_t> operations_at(const Workload& work,
                                         const std::vector<std::size_t>& events) {
  std::vector<std::uint32_t> found;
  auto op = static_cast<std::uint32_t>(work.initial_blocks);
  for (const std::size_t event : events) {
    while (op < work.operations.size() && work.operations[op].event < event) {
      ++op;
    }
    found.push_back(op);
  }
  return found;
}

std::uint64_t median_of(Amounts values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::uint64_t sum_of(const Amounts& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
}

std::uint32_t end_of_job(const Workload& work) {
  for (std::size_t i = work.operations.size(); i-- > 0;) {
    if (work.operations[i].kind == Operation::Kind::failed) return static_cast<std::uint32_t>(i);
  }
  return static_cast<std::uint32_t>(work.operations.size());
}

JobSteps steps_of(const trace::Snapshot& snapshot, int device, const Workload& workload) {
  JobSteps steps;
  steps.events = trace::find_steps(snapshot, static_cast<std::size_t>(device)).begins;
  steps.operations = operations_at(workload, steps.events);
  steps.end = end_of_job(workload);
  return steps;
}

std::size_t moments_until(const std::vector<std::uint32_t>& moments, std::uint32_t operation) {
  const auto after = std::upper_bound(moments.begin(), moments.end(), operation);
  return static_cast<std::size_t>(after - moments.begin());
}

std::optional<std::size_t> keeping_step(const Lifetime& life, std::uint32_t end,
                                        const std::vector<std::uint32_t>& begins) {
  const bool in_a_step = life.first >= begins.front() && life.first < end;
  if (life.failed || life.released < end || !in_a_step) return std::nullopt;
  return moments_until(begins, life.first) - 1;
}

bool is_steady(const Amounts& growth) {
  const auto steps = static_cast<std::size_t>(
      std::count_if(growth.begin(), growth.end(), [](std::uint64_t bytes) { return bytes > 0; }));
  if (growth.size() < 2 || steps * 10 < growth.size() * 8) return false;
  const auto middle = growth.begin() + static_cast<std::ptrdiff_t>(growth.size() / 2);
  const std::uint64_t earlier = median_of(Amounts(growth.begin(), middle));
  const std::uint64_t later = median_of(Amounts(middle, growth.end()));
  return later <= 2 * earlier && earlier <= 2 * later;
}

bool is_much(std::uint64_t growth, std::uint64_t live) {
  return growth >= kLeastRiseBytes &&
         static_cast<double>(growth) >= kLeastRise * static_cast<double>(live);
}

std::optional<std::uint64_t> steady_rise(const Amounts& live, std::uint64_t all) {
  Amounts rises;
  std::uint64_t falls = 0;
  for (std::size_t i = 1; i < live.size(); ++i) {
    const bool fell = live[i] < live[i - 1];
    rises.push_back(fell ? 0 : live[i] - live[i - 1]);
    if (fell) falls += live[i - 1] - live[i];
  }
  if (!is_steady(rises) || live.back() <= live.front()) return std::nullopt;
  const std::uint64_t growth = live.back() - live.front();
  if (!is_much(growth, all) || falls > sum_of(rises) / 4) return std::nullopt;
  return growth / rises.size();
}

}  // namespace ebb::replay
