// SPDX-License-Identifier: Apache-2.0
#include "fl/select/context.h"

#include <algorithm>
#include <cmath>

#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

/// Of the labels, 1 where all are equally frequent.
double evenness(const std::vector<std::uint32_t>& labels) {
  double sum = 0;
  for (const std::uint32_t label : labels)
    sum += label;
  double entropy = 0;
  for (const std::uint32_t label : labels)
    if (label > 0) entropy -= label / sum * std::log(label / sum);
  return labels.size() > 1 ? entropy / std::log(static_cast<double>(labels.size())) : 0;
}

}  // namespace

std::vector<Context> contexts_of(const Choice& choice) {
  const auto count = static_cast<double>(choice.clients.size());
  const double share = std::max(choice.count, 1U) / count;
  double most_samples = 1;
  for (const Client& client : choice.clients)
    most_samples = std::max<double>(most_samples, client.samples);
  std::vector<double> speed;
  for (const Client& client : choice.clients)
    speed.push_back(-measured(client.seconds));
  normalise(speed);
  const std::vector<double> losses = hopeful(choice.clients, &Client::loss);

  std::vector<Context> contexts;
  contexts.reserve(choice.clients.size());
  for (std::size_t i = 0; i < choice.clients.size(); ++i) {
    const Client& client = choice.clients[i];
    const bool seen = client.last_round.has_value();
    const double since =
        seen ? static_cast<double>(choice.round) - *client.last_round : choice.round + 1.0;
    const double expected_participations = share * (choice.round + 1.0);
    contexts.push_back({1, seen ? 0.0 : 1.0, seen ? losses[i] : 0,
                        std::log1p(std::max(since, 0.0) * share), client.samples / most_samples,
                        evenness(client.labels), speed[i],
                        std::log1p(client.participations / expected_participations)});
  }
  return contexts;
}

double deviation_with_own(double deviation, const Client& client) {
  return std::sqrt(deviation * deviation + 1 / (1.0 + client.participations));
}

std::optional<Context> PendingContexts::take(std::uint32_t client) {
  const auto found = contexts_.find(client);
  if (found == contexts_.end()) return std::nullopt;
  const Context context = found->second;
  contexts_.erase(found);
  return context;
}

void PendingContexts::save(base::Json& state) const {
  std::vector<std::uint32_t> clients;
  std::vector<double> values;
  for (const auto& [client, context] : contexts_) {
    clients.push_back(client);
    values.insert(values.end(), context.begin(), context.end());
  }
  state.set("pending", to_json(clients));
  state.set("pending_contexts", to_json(values));
}

PendingContexts PendingContexts::read(StateReader& reader) {
  PendingContexts pending;
  const std::vector<std::uint32_t> clients = reader.wholes("pending");
  const std::vector<double> values = reader.numbers("pending_contexts");
  const std::size_t width = Context{}.size();
  reader.require(values.size() == clients.size() * width,
                 "pending_contexts does not go with pending");
  for (std::size_t i = 0; i < std::min(clients.size(), values.size() / width); ++i)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                pending.contexts_[clients[i]].begin());
  return pending;
}

}  // namespace ebb::fl::select
