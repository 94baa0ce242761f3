// SPDX-License-Identifier: Apache-2.0
// What the present model can do: on the test set, and for clients on their own samples.
#include <algorithm>
#include <cmath>

#include "base/mutex.h"
#include "fl/engine.h"

namespace ebb::fl {
namespace {

/// Test samples that one thread evaluates before it takes others.
constexpr std::size_t kChunk = 1024;

/// Losses travel between ranks, and are added up, in whole numbers of this.
constexpr double kLossUnit = 0x1p-32;

std::int64_t in_units(double loss) {
  return std::llrint(std::clamp(loss, -1e9, 1e9) / kLossUnit);
}

}  // namespace

base::Result<Scores> Engine::evaluate() {
  const Split& test = resources_.data->test;
  std::vector<std::vector<std::uint32_t>> items;
  for (std::size_t first = 0, chunk = 0; first < test.size(); first += kChunk, ++chunk) {
    if (!is_mine(chunk)) continue;
    if (items.empty() || !resources_.trainer->evaluates_at_once()) items.emplace_back();
    const std::size_t end = std::min(first + kChunk, test.size());
    for (std::size_t sample = first; sample < end; ++sample)
      items.back().push_back(static_cast<std::uint32_t>(sample));
  }
  // Whole numbers, so that it does not matter who adds what when.
  const std::size_t classes = resources_.data->classes;
  std::vector<std::int64_t> counts(classes * classes + 1);
  base::Mutex mutex;
  const auto done = workers_.run(static_cast<std::uint32_t>(items.size()),
                                 [&](std::uint32_t slot, std::uint32_t item) -> base::Status {
                                   const auto found = evaluate_on(slot, test, items[item]);
                                   if (!found) return found.error();
                                   const base::Lock lock(mutex);
                                   for (std::size_t i = 0; i < found->confusion.size(); ++i)
                                     counts[i] += static_cast<std::int64_t>(found->confusion[i]);
                                   counts.back() += in_units(found->loss_sum);
                                   return {};
                                 });
  if (!done) return done.error();
  if (auto summed = resources_.ranks->sum(counts); !summed) return summed.error();
  Evaluation evaluation(resources_.data->classes);
  for (std::size_t i = 0; i < evaluation.confusion.size(); ++i)
    evaluation.confusion[i] = static_cast<std::uint64_t>(counts[i]);
  evaluation.loss_sum = static_cast<double>(counts.back()) * kLossUnit;
  evaluation.samples = test.size();
  return Scores{evaluation.accuracy(), evaluation.loss(), macro_scores(evaluation)};
}

base::Result<ClientScores> Engine::evaluate_clients() {
  std::vector<std::uint32_t> mine;
  for (std::uint32_t client = 0; client < config_.clients; ++client) {
    if (is_mine(client)) mine.push_back(client);
  }
  // Of each client how many samples are right, and its mean loss.
  std::vector<std::int64_t> found(std::size_t{config_.clients} * 2);
  const auto done = workers_.run(
      static_cast<std::uint32_t>(mine.size()),
      [&](std::uint32_t slot, std::uint32_t item) -> base::Status {
        const std::uint32_t client = mine[item];
        const auto one = evaluate_on(slot, resources_.data->train, holdings_.samples_of(client));
        if (!one) return one.error();
        found[std::size_t{client} * 2] = static_cast<std::int64_t>(one->right());
        found[std::size_t{client} * 2 + 1] = in_units(one->loss());
        return {};
      });
  if (!done) return done.error();
  if (auto summed = resources_.ranks->sum(found); !summed) return summed.error();
  std::vector<double> accuracies;
  std::vector<double> losses;
  accuracies.reserve(config_.clients);
  losses.reserve(config_.clients);
  for (std::uint32_t client = 0; client < config_.clients; ++client) {
    const auto samples = static_cast<double>(holdings_.size_of(client));
    accuracies.push_back(static_cast<double>(found[std::size_t{client} * 2]) / samples);
    losses.push_back(static_cast<double>(found[std::size_t{client} * 2 + 1]) * kLossUnit);
  }
  return ClientScores{spread_of(accuracies, Better::higher), spread_of(losses, Better::lower)};
}

base::Result<std::vector<double>> Engine::probe(std::span<const std::uint32_t> clients) {
  std::vector<std::int64_t> losses(clients.size());
  std::vector<std::uint32_t> mine;
  for (std::uint32_t i = 0; i < clients.size(); ++i) {
    if (is_mine(i)) mine.push_back(i);
  }
  const auto done = workers_.run(static_cast<std::uint32_t>(mine.size()),
                                 [&](std::uint32_t slot, std::uint32_t item) -> base::Status {
                                   const auto found =
                                       evaluate_on(slot, resources_.data->train,
                                                   holdings_.samples_of(clients[mine[item]]));
                                   if (!found) return found.error();
                                   losses[mine[item]] = in_units(found->loss());
                                   return {};
                                 });
  if (!done) return done.error();
  if (auto summed = resources_.ranks->sum(losses); !summed) return summed.error();
  std::vector<double> result;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    result.push_back(static_cast<double>(losses[i]) * kLossUnit);
    const double samples = static_cast<double>(holdings_.size_of(clients[i]));
    totals_.flops += samples * 2 * shape_.macs_per_sample;
    // It receives the model and answers with a number.
    totals_.communicated_bytes += static_cast<double>(shape_.elements * sizeof(float) + 8);
  }
  return result;
}

}  // namespace ebb::fl
