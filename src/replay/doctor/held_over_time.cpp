// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/held_over_time.h"

#include <algorithm>

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

// A slider has no room for more, and each of them is a number per place in a page.
constexpr std::size_t kMostSteps = 120;

bool is_free(const Operation& operation) {
  return operation.kind == Kind::free || operation.kind == Kind::free_later;
}

std::uint32_t operation_count(const Workload& workload) {
  return static_cast<std::uint32_t>(workload.operations.size());
}

/// Evenly, where nothing shows steps.
void add_even_moments(const Workload& workload, std::vector<std::uint32_t>& operations) {
  const std::uint64_t from = workload.first_recorded;
  const std::uint64_t count = operation_count(workload) - from;
  for (std::uint64_t i = 1; i < kMostSteps; ++i)
    operations.push_back(static_cast<std::uint32_t>(from + i * count / kMostSteps));
}

}  // namespace

HeldOverTime::HeldOverTime(const Workload& workload, const JobSteps& job,
                           const NumberedBlocks& blocks)
    : workload_(workload), blocks_(blocks), most_(blocks.count, 0) {
  choose_moments(job);
  walk([&](const Moment& moment) {
    totals_.push_back(moment.total);
    requests_.push_back(moment.requests);
    for (const std::uint32_t number : moment.changed)
      most_[number] = std::max(most_[number], moment.held[number]);
  });
}

HeldOverTime::Rows HeldOverTime::rows_of(const std::vector<std::uint32_t>& numbers) const {
  Rows rows;
  rows.over_time.assign(numbers.size(), std::vector<std::uint64_t>(operations_.size(), 0));
  rows.kept.assign(numbers.size(), Amounts(steps_.begins.size(), 0));
  std::size_t index = 0;
  walk([&](const Moment& moment) {
    for (std::size_t row = 0; row < numbers.size(); ++row)
      rows.over_time[row][index] = moment.held[numbers[row]];
    ++index;
  });
  if (!steps_.are_enough) return rows;
  std::vector<std::size_t> row_of(blocks_.count, numbers.size());
  for (std::size_t row = 0; row < numbers.size(); ++row)
    row_of[numbers[row]] = row;
  for (std::size_t i = 0; i < blocks_.lives.size(); ++i) {
    const std::size_t row = row_of[blocks_.number[i]];
    if (row == numbers.size()) continue;
    const Lifetime& life = blocks_.lives[i];
    if (const auto step = keeping_step(life, steps_.end_operation, steps_.begins))
      rows.kept[row][*step] += life.bytes;
  }
  return rows;
}

void HeldOverTime::choose_moments(const JobSteps& job) {
  steps_.end_operation = job.end;
  const auto within = std::upper_bound(job.operations.begin(), job.operations.end(), job.end);
  const auto count = static_cast<std::size_t>(within - job.operations.begin());
  steps_.stride = std::max<std::size_t>((count + kMostSteps - 1) / kMostSteps, 1);
  for (std::size_t i = 0; i < count; i += steps_.stride)
    steps_.begins.push_back(job.operations[i]);
  steps_.settled = (kWarmUpSteps + steps_.stride - 1) / steps_.stride;
  steps_.are_enough = count >= kLeastSteps;

  operations_ = {workload_.first_recorded, job.end, operation_count(workload_)};
  operations_.insert(operations_.end(), steps_.begins.begin(), steps_.begins.end());
  if (steps_.begins.empty()) add_even_moments(workload_, operations_);
  std::sort(operations_.begin(), operations_.end());
  operations_.erase(std::unique(operations_.begin(), operations_.end()), operations_.end());
  const auto index_of = [&](std::uint32_t operation) {
    const auto at = std::lower_bound(operations_.begin(), operations_.end(), operation);
    return static_cast<std::size_t>(at - operations_.begin());
  };
  for (const std::uint32_t begin : steps_.begins)
    steps_.moments.push_back(index_of(begin));
  steps_.end = index_of(job.end);
}

template <class AtMoment>
void HeldOverTime::walk(AtMoment&& at_moment) const {
  Moment now;
  now.held.assign(blocks_.count, 0);
  std::vector<bool> is_changed(now.held.size(), false);
  auto next = operations_.begin();
  for (std::uint32_t index = 0; next != operations_.end(); ++index) {
    if (index == *next) {
      at_moment(now);
      for (const std::uint32_t number : now.changed)
        is_changed[number] = false;
      now.changed.clear();
      ++next;
    }
    if (index == operation_count(workload_)) break;
    const Operation& operation = workload_.operations[index];
    if (operation.kind != Kind::allocate && !is_free(operation)) continue;
    const std::uint32_t number = blocks_.number[operation.block];
    const std::uint64_t bytes = blocks_.lives[operation.block].bytes;
    std::uint64_t& held = now.held[number];
    held = is_free(operation) ? held - bytes : held + bytes;
    now.total = is_free(operation) ? now.total - bytes : now.total + bytes;
    if (index >= workload_.first_recorded) ++now.requests;
    if (!is_changed[number]) now.changed.push_back(number);
    is_changed[number] = true;
  }
}

}  // namespace ebb::replay
