// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "fl/random.h"
#include "fl/select/selector.h"

namespace ebb::fl {

using Cohort = std::vector<std::uint32_t>;

/// Clients without data or model: what a round would tell about them follows from a formula.
class FakeFederation {
 public:
  /// The loss of a client's data under the present model.
  using Loss = std::function<double(const FakeFederation&, std::uint32_t client)>;

  explicit FakeFederation(std::uint32_t count, std::uint64_t seed = 7) : seed_(seed) {
    Random random(seed, Purpose::world);
    for (std::uint32_t id = 0; id < count; ++id) {
      Client client;
      client.samples = 100 + static_cast<std::uint32_t>(random.below(900));
      for (const double share : random.dirichlet(0.5, 10))
        client.labels.push_back(static_cast<std::uint32_t>(share * client.samples));
      client.speed = random.lognormal(0, 0.5);
      client.channel = random.uniform(0.5, 1);
      client.seconds = client.samples / (100 * client.speed);
      client.tier = id % 3;
      clients.push_back(client);
      difficulty_.push_back(random.uniform(0.5, 2));
    }
  }

  /// Falls with everyone's training, and more with its own.
  static double learning(const FakeFederation& world, std::uint32_t client) {
    const double own = world.clients[client].participations;
    return world.difficulty_[client] * (0.2 + 0.8 * std::exp(-0.1 * own)) *
           (0.3 + 0.7 * std::exp(-0.02 * world.now));
  }

  Cohort choose(Selector& selector, std::uint32_t count) {
    Random random(seed_, Purpose::selection, now);
    const Choice::Probe probe =
        [this](std::span<const std::uint32_t> ids) -> base::Result<std::vector<double>> {
      if (probe_fails) return base::error(base::Code::internal, "nobody answers");
      probed.emplace_back(ids.begin(), ids.end());
      std::vector<double> losses;
      for (const std::uint32_t id : ids)
        losses.push_back(loss(*this, id));
      return losses;
    };
    auto chosen = selector.select({now, count, clients, deadline, random, probe});
    EXPECT_TRUE(chosen.has_value()) << (chosen ? "" : chosen.error().message);
    return chosen ? *chosen : Cohort();
  }

  void finish(Selector& selector, const Cohort& cohort) {
    Cohort took_part;
    for (const std::uint32_t id : cohort) {
      ++clients[id].unanswered;
      if (answers && !answers(id)) continue;
      take_part(id);
      took_part.push_back(id);
    }
    selector.learn({now, took_part, clients});
    ++now;
  }

  Cohort round(Selector& selector, std::uint32_t count) {
    const Cohort cohort = choose(selector, count);
    finish(selector, cohort);
    return cohort;
  }

  std::vector<Cohort> rounds(Selector& selector, std::uint32_t count, int rounds) {
    std::vector<Cohort> cohorts;
    for (int i = 0; i < rounds; ++i)
      cohorts.push_back(round(selector, count));
    return cohorts;
  }

  /// What the server learns when this client takes part now.
  void take_part(std::uint32_t id) {
    Client& client = clients[id];
    client.loss = loss(*this, id);
    client.loss_rms = *client.loss * 1.1;
    client.gradient_norm = norm ? norm(*this, id) : *client.loss;
    client.last_round = now;
    client.unanswered = 0;
    ++client.participations;
    Random random(seed_, Purpose::sketch, now, id);
    client.sketch.resize(kSketchLength);
    for (float& value : client.sketch)
      value = static_cast<float>(0.1 * random.normal());
    client.sketch[(sketch_group ? sketch_group(id) : id % 10) % kSketchLength] += 1;
  }

  void everyone_takes_part() {
    for (std::uint32_t id = 0; id < clients.size(); ++id)
      take_part(id);
    ++now;
  }

  std::vector<Client> clients;
  Loss loss = learning;
  Loss norm;  ///< of updates; like the loss where there is none
  std::function<std::uint32_t(std::uint32_t)> sketch_group;
  std::function<bool(std::uint32_t)> answers;  ///< whose updates arrive; everyone's without it
  std::optional<double> deadline;
  std::uint32_t now = 0;
  bool probe_fails = false;
  std::vector<Cohort> probed;

 private:
  std::uint64_t seed_;
  std::vector<double> difficulty_;
};

inline std::unique_ptr<Selector> make_selector(std::string_view key,
                                               const ParameterValues& parameters = {}) {
  auto selector = create_selector(key, parameters);
  EBB_CHECK(selector.has_value());
  return *std::move(selector);
}

/// What a method is for, as something to be seen in its choices.
using Property = std::function<bool(Selector&)>;

/// The method has the property, and `other` has not: what anyone would have, defines nobody.
inline void expect_property(std::string_view key, const Property& property,
                            std::string_view other = "heuristic.random") {
  EXPECT_TRUE(property(*make_selector(key))) << key;
  EXPECT_FALSE(property(*make_selector(other))) << other << " has it, too";
}

/// In how many of `cohorts` each client is.
inline std::vector<int> turns(const std::vector<Cohort>& cohorts, std::size_t clients) {
  std::vector<int> counts(clients);
  for (const Cohort& cohort : cohorts)
    for (const std::uint32_t id : cohort)
      ++counts[id];
  return counts;
}

/// The mean over everyone chosen.
inline double mean_of(const std::vector<Cohort>& cohorts,
                      const std::function<double(std::uint32_t)>& value) {
  double sum = 0;
  double count = 0;
  for (const Cohort& cohort : cohorts) {
    for (const std::uint32_t id : cohort) {
      sum += value(id);
      ++count;
    }
  }
  return sum / count;
}

/// How many groups a cohort has members of, on average.
inline double mean_groups(const std::vector<Cohort>& cohorts,
                          const std::function<std::uint32_t(std::uint32_t)>& group) {
  double sum = 0;
  for (const Cohort& cohort : cohorts) {
    std::vector<std::uint32_t> groups;
    for (const std::uint32_t id : cohort)
      groups.push_back(group(id));
    std::sort(groups.begin(), groups.end());
    sum += static_cast<double>(std::unique(groups.begin(), groups.end()) - groups.begin());
  }
  return sum / static_cast<double>(cohorts.size());
}

}  // namespace ebb::fl
