// SPDX-License-Identifier: Apache-2.0
#include "fl/metrics.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"

namespace ebb::fl {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Counts are small, and there may be a million of them.
std::vector<std::uint32_t> in_order(std::span<const std::uint32_t> counts) {
  std::map<std::uint32_t, std::size_t> times;
  for (const std::uint32_t count : counts)
    ++times[count];
  std::vector<std::uint32_t> sorted;
  sorted.reserve(counts.size());
  for (const auto& [count, often] : times)
    sorted.insert(sorted.end(), often, count);
  return sorted;
}

}  // namespace

void Evaluation::add(const Evaluation& other) {
  EBB_CHECK(other.classes == classes);
  for (std::size_t i = 0; i < confusion.size(); ++i)
    confusion[i] += other.confusion[i];
  loss_sum += other.loss_sum;
  samples += other.samples;
}

std::uint64_t Evaluation::right() const {
  std::uint64_t right = 0;
  for (std::size_t label = 0; label < classes; ++label)
    right += confusion[label * classes + label];
  return right;
}

double Evaluation::accuracy() const {
  return ratio(right(), samples);
}

double Evaluation::loss() const {
  return samples == 0 ? 0 : loss_sum / static_cast<double>(samples);
}

MacroScores macro_scores(const Evaluation& evaluation) {
  MacroScores sums;
  const std::size_t classes = evaluation.classes;
  if (classes == 0) return sums;
  for (std::size_t label = 0; label < classes; ++label) {
    std::uint64_t occurs = 0;
    std::uint64_t predicted = 0;
    for (std::size_t other = 0; other < classes; ++other) {
      occurs += evaluation.confusion[label * classes + other];
      predicted += evaluation.confusion[other * classes + label];
    }
    const std::uint64_t right = evaluation.confusion[label * classes + label];
    sums.precision += ratio(right, predicted);
    sums.recall += ratio(right, occurs);
    sums.f1 += ratio(2 * right, occurs + predicted);
  }
  const auto count = static_cast<double>(classes);
  return {sums.precision / count, sums.recall / count, sums.f1 / count};
}

Participation participation_of(std::span<const std::uint32_t> counts) {
  const auto clients = static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint32_t count : counts)
    sum += count;
  Participation participation{0, 1, 0};
  if (!(sum > 0)) return participation;

  const std::vector<std::uint32_t> sorted = in_order(counts);
  const double mean = sum / clients;
  double differences = 0;  // over all pairs of different clients
  double entropy = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double count = sorted[i];
    differences += (2 * static_cast<double>(i) + 1 - clients) * count;
    if (count > 0) entropy -= count / sum * std::log(count / sum);
    participation.variance += (count - mean) * (count - mean) / clients;
  }
  participation.gini = differences / (clients * sum);
  if (counts.size() > 1) participation.entropy = entropy / std::log(clients);
  return participation;
}

}  // namespace ebb::fl
