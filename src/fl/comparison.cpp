// SPDX-License-Identifier: Apache-2.0
#include "fl/comparison.h"

#include <algorithm>
#include <map>

namespace ebb::fl {
namespace {

using base::Json;

std::vector<double> final_accuracies(const MethodRuns& runs) {
  std::vector<double> accuracies;
  for (const SimulationResult& result : runs.repeats)
    if (const auto scores = final_scores(result)) accuracies.push_back(scores->accuracy);
  return accuracies;
}

Json one_run(const SimulationResult& result) {
  Json json = to_json(result);
  json.set("time_to_accuracy", to_json(milestones_of(result)));
  return json;
}

std::optional<PairedTest> test_between(const MethodRuns& one, const MethodRuns& best) {
  const std::vector<double> first = final_accuracies(one);
  const std::vector<double> second = final_accuracies(best);
  // A comparison that was stopped has fewer repeats of its last method.
  const std::size_t pairs = std::min(first.size(), second.size());
  return paired_test(std::span(first).first(pairs), std::span(second).first(pairs));
}

}  // namespace

std::optional<Scores> final_scores(const SimulationResult& result) {
  for (auto round = result.rounds.rbegin(); round != result.rounds.rend(); ++round)
    if (round->scores) return round->scores;
  return result.untrained;
}

Milestones milestones_of(const SimulationResult& result) {
  std::vector<double> seconds;
  std::vector<double> accuracies;
  if (result.untrained) {
    seconds.push_back(0);
    accuracies.push_back(result.untrained->accuracy);
  }
  for (const RoundReport& round : result.rounds) {
    if (!round.scores) continue;
    seconds.push_back(round.simulated_seconds);
    accuracies.push_back(round.scores->accuracy);
  }
  if (accuracies.empty()) return {};
  const double final = accuracies.back();
  return {reached_at(seconds, accuracies, 0.5 * final),
          reached_at(seconds, accuracies, 0.8 * final),
          reached_at(seconds, accuracies, 0.9 * final)};
}

std::vector<RoundBand> bands_of(std::span<const SimulationResult> repeats) {
  struct Values {
    std::vector<double> accuracies, losses, rss, simulated;
  };
  std::map<std::uint32_t, Values> by_round;
  for (const SimulationResult& result : repeats) {
    for (const RoundReport& round : result.rounds) {
      Values& values = by_round[round.round];
      values.simulated.push_back(round.simulated_seconds);
      if (round.memory.now.rss) values.rss.push_back(static_cast<double>(*round.memory.now.rss));
      if (!round.scores) continue;
      values.accuracies.push_back(round.scores->accuracy);
      values.losses.push_back(round.scores->loss);
    }
  }
  const auto known = [](const std::vector<double>& values) {
    return values.empty() ? std::nullopt : std::optional(band_of(values));
  };
  std::vector<RoundBand> bands;
  for (const auto& [round, values] : by_round)
    bands.push_back({round, known(values.accuracies), known(values.losses), known(values.rss),
                     band_of(values.simulated).mean});
  return bands;
}

std::vector<std::uint32_t> participations_of(const SimulationResult& result) {
  std::vector<std::uint32_t> counts(result.config.clients);
  for (const RoundReport& round : result.rounds)
    for (const std::uint32_t client : round.took_part)
      if (client < counts.size()) ++counts[client];
  return counts;
}

std::vector<Ranked> ranking_of(std::span<const MethodRuns> methods) {
  std::vector<Ranked> ranking;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    Ranked ranked;
    ranked.index = i;
    const std::vector<double> accuracies = final_accuracies(methods[i]);
    if (!accuracies.empty()) ranked.accuracy = band_of(accuracies);
    ranking.push_back(ranked);
  }
  std::stable_sort(ranking.begin(), ranking.end(), [](const Ranked& one, const Ranked& other) {
    return one.accuracy.mean > other.accuracy.mean;
  });
  for (std::size_t place = 1; place < ranking.size(); ++place)
    ranking[place].against_best =
        test_between(methods[ranking[place].index], methods[ranking.front().index]);
  return ranking;
}

Json to_json(const Band& band) {
  return Json::object(
      {{"mean", band.mean}, {"low", band.low}, {"high", band.high}, {"deviation", band.deviation}});
}

Json to_json(const PairedTest& test) {
  return Json::object(
      {{"difference", test.difference}, {"low", test.low}, {"high", test.high}, {"p", test.p}});
}

Json to_json(const Milestones& milestones) {
  return Json::object({{"50_percent_seconds", milestones.half},
                       {"80_percent_seconds", milestones.four_fifths},
                       {"90_percent_seconds", milestones.nine_tenths}});
}

Json to_json(const RoundBand& band) {
  Json json = Json::object({{"round", std::uint64_t{band.round}}});
  if (band.accuracy) json.set("accuracy", to_json(*band.accuracy));
  if (band.loss) json.set("loss", to_json(*band.loss));
  if (band.rss) json.set("rss_bytes", to_json(*band.rss));
  return json;
}

Json to_json(const MethodRuns& runs) {
  Json json = one_run(runs.repeats.front());
  json.set("method", runs.method);
  Json bands = Json::array();
  for (const RoundBand& band : bands_of(runs.repeats))
    bands.push(to_json(band));
  json.set("bands", std::move(bands));
  Json repeats = Json::array();
  for (std::size_t i = 1; i < runs.repeats.size(); ++i)
    repeats.push(one_run(runs.repeats[i]));
  json.set("repeats", std::move(repeats));
  return json;
}

Json to_json(std::span<const Ranked> ranking, std::span<const MethodRuns> methods) {
  Json json = Json::array();
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    const Ranked& ranked = ranking[place];
    json.push(Json::object(
        {{"rank", std::uint64_t{place + 1}},
         {"method", methods[ranked.index].method},
         {"accuracy", to_json(ranked.accuracy)},
         {"against_best", ranked.against_best ? to_json(*ranked.against_best) : Json()}}));
  }
  return json;
}

}  // namespace ebb::fl
