// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/outcome_page.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/text.h"
#include "show/page_parts.h"
#include "show/simulate/client_view.h"
#include "show/simulate/outcome_plots.h"
#include "show/simulate/privacy_lines.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::Json;

/// A difference that comes by chance more seldom is told.
constexpr double kChance = 0.05;

/// A row of the results, without the run.
void add_results(const std::string& method, const fl::SimulationResult& result,
                 std::vector<Json>& row) {
  const auto scores = fl::final_scores(result);
  const fl::RoundReport* last = result.rounds.empty() ? nullptr : &result.rounds.back();
  const auto score = [&](auto value) { return scores ? Json(value(*scores)) : Json(); };
  const auto of_last = [&](auto value) { return last != nullptr ? Json(value(*last)) : Json(); };
  // Of a part of a simulation the final accuracy is not known.
  const fl::Milestones reached = result.stopped ? fl::Milestones{} : fl::milestones_of(result);
  const std::vector<Json> cells = {
      Json(method),
      Json(std::to_string(result.config.seed)),
      Json(std::uint64_t{last != nullptr ? last->round + 1 : 0}),
      score([](const fl::Scores& s) { return s.accuracy; }),
      score([](const fl::Scores& s) { return s.macro.f1; }),
      score([](const fl::Scores& s) { return s.loss; }),
      of_last([](const fl::RoundReport& round) { return round.participation.gini; }),
      of_last([](const fl::RoundReport& round) { return round.participation.entropy; }),
      of_last([](const fl::RoundReport& round) { return round.communicated_bytes / 1e6; }),
      of_last([](const fl::RoundReport& round) { return round.flops / 1e12; }),
      of_last([](const fl::RoundReport& round) { return round.simulated_seconds; }),
      Json(reached.half),
      Json(reached.four_fifths),
      Json(reached.nine_tenths),
      result.peak_rss > 0 ? Json(result.peak_rss) : Json()};
  row.insert(row.end(), cells.begin(), cells.end());
}

/// Those that came to their end, method by method, and their places: a part of a simulation cannot
/// be ranked with whole ones.
struct Ranking {
  std::vector<fl::MethodRuns> methods;
  std::vector<fl::Ranked> places;
};

Ranking ranking_of(const SimulateOutcome& outcome) {
  Ranking ranking;
  std::optional<std::set<std::uint64_t>> common;
  for (const fl::MethodRuns& runs : outcome.methods) {
    fl::MethodRuns whole{runs.method, {}};
    std::set<std::uint64_t> seeds;
    for (const fl::SimulationResult& result : runs.repeats) {
      if (result.stopped) continue;
      whole.repeats.push_back(result);
      seeds.insert(result.config.seed);
    }
    if (whole.repeats.empty()) continue;
    ranking.methods.push_back(std::move(whole));
    if (!common) common = seeds;
    std::erase_if(*common, [&](std::uint64_t seed) { return !seeds.contains(seed); });
  }
  // Seed by seed, or not at all.
  for (fl::MethodRuns& runs : ranking.methods) {
    std::erase_if(runs.repeats, [&](const fl::SimulationResult& result) {
      return !common->contains(result.config.seed);
    });
  }
  if (common && common->empty()) ranking.methods.clear();
  ranking.places = fl::ranking_of(ranking.methods);
  return ranking;
}

page::Table results_table(const SimulateOutcome& outcome) {
  using page::Unit;
  page::Table table;
  table.title = "Results";
  table.note = "One row for each simulation; times to a share of the final accuracy are simulated";
  table.columns = {column("method", Unit::text),       column("seed", Unit::text),
                   column("rounds", Unit::count),      column("accuracy", Unit::number, true),
                   column("macro F1", Unit::number),   column("loss", Unit::number),
                   column("Gini", Unit::number),       column("entropy", Unit::number),
                   column("MB sent", Unit::number),    column("TFLOPs", Unit::number),
                   column("simulated", Unit::seconds), column("to 50 %", Unit::seconds),
                   column("to 80 %", Unit::seconds),   column("to 90 %", Unit::seconds),
                   column("peak rss", Unit::bytes)};
  for (const PrivacyLine& line : privacy_of(outcome))
    table.note += ". Privacy of " + line.method + ": " + line.text;
  const bool has_runs = !outcome.run_of.empty();
  if (has_runs) table.columns.insert(table.columns.begin(), column("run", Unit::text));
  for (std::size_t i = 0; i < outcome.methods.size(); ++i) {
    const fl::MethodRuns& runs = outcome.methods[i];
    for (std::size_t j = 0; j < runs.repeats.size(); ++j) {
      const fl::SimulationResult& result = runs.repeats[j];
      std::vector<Json> row;
      if (has_runs) {
        const std::string number = std::to_string(outcome.run_of[i][j]);
        row.push_back(page::link_cell(number, number));
      }
      add_results(runs.method, result, row);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

/// Without rows where clients were never evaluated.
page::Table clients_table(const SimulateOutcome& outcome) {
  using page::Unit;
  page::Table table;
  table.title = "Clients";
  table.note =
      "What the last model that was evaluated so is to each client, on its own training samples";
  table.columns = {
      column("method", Unit::text),           column("seed", Unit::text),
      column("accuracy", Unit::number),       column("spread", Unit::number),
      column("worst tenth", Unit::number),    column("loss", Unit::number),
      column("spread of loss", Unit::number), column("worst tenth of loss", Unit::number)};
  for (const fl::MethodRuns& runs : outcome.methods) {
    for (const fl::SimulationResult& result : runs.repeats) {
      const fl::ClientScores* scores = last_client_scores(result);
      if (scores == nullptr) continue;
      std::vector<Json> row = {Json(runs.method), Json(std::to_string(result.config.seed))};
      for (const fl::ClientSpread& spread : {scores->accuracy, scores->loss})
        row.insert(row.end(),
                   {Json(spread.mean), Json(spread.deviation), Json(spread.worst_tenth)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

page::Table ranking_table(const Ranking& ranking) {
  using page::Unit;
  page::Table table;
  table.title = "Ranking";
  table.note = format_text(
      "By the mean of the final accuracies of %zu %s; p of a paired t test against the best",
      ranking.methods.front().repeats.size(),
      ranking.methods.front().repeats.size() == 1 ? "seed" : "seeds");
  table.columns = {column("rank", Unit::count),
                   column("method", Unit::text),
                   column("accuracy", Unit::number, true),
                   column("from", Unit::number),
                   column("to", Unit::number),
                   column("against the best", Unit::number),
                   column("p", Unit::number)};
  for (std::size_t place = 0; place < ranking.places.size(); ++place) {
    const fl::Ranked& ranked = ranking.places[place];
    const auto& test = ranked.against_best;
    const bool has_band = ranking.methods[ranked.index].repeats.size() > 1;
    table.rows.push_back({Json(std::uint64_t{place + 1}),
                          Json(ranking.methods[ranked.index].method), Json(ranked.accuracy.mean),
                          has_band ? Json(std::max(ranked.accuracy.low, 0.0)) : Json(),
                          has_band ? Json(std::min(ranked.accuracy.high, 1.0)) : Json(),
                          test ? Json(test->difference) : Json(), test ? Json(test->p) : Json()});
  }
  table.highlight = 0;
  return table;
}

/// Whether the best is told apart from the next: not by chance, as far as seeds tell.
bool is_told_apart(const Ranking& ranking) {
  const auto& next = ranking.places[1].against_best;
  return next && next->p < kChance;
}

page::Verdict best_card(const Ranking& ranking, std::size_t under_way) {
  page::Verdict verdict;
  const auto name = [&](const fl::Ranked& ranked) {
    return ranking.methods[ranked.index].method.c_str();
  };
  const fl::Ranked& best = ranking.places.front();
  verdict.name = under_way == 0 ? "best" : "best so far";
  verdict.headline = format_text("%s: final accuracy %.4f", name(best), best.accuracy.mean);
  verdict.tone = page::Tone::good;
  for (std::size_t place = 1; place < ranking.places.size(); ++place) {
    const fl::Ranked& other = ranking.places[place];
    std::string line =
        format_text("%s: %+.4f", name(other), other.accuracy.mean - best.accuracy.mean);
    if (other.against_best)
      line += format_text(" (95 %%: %+.4f to %+.4f, p %.3f)", other.against_best->low,
                          other.against_best->high, other.against_best->p);
    verdict.evidence.push_back(line);
  }
  if (ranking.places.size() > 1 && !is_told_apart(ranking)) {
    verdict.tone = page::Tone::neutral;
    verdict.confidence = "low";
    verdict.evidence.push_back(
        ranking.methods.front().repeats.size() < 2
            ? "one seed is too few to tell methods apart: --repeats 5 gives bands and paired tests"
            : format_text("not told apart from %s: more seeds would", name(ranking.places[1])));
  }
  if (under_way > 0)
    verdict.evidence.push_back(format_text("%zu %s not come to the last round", under_way,
                                           under_way == 1 ? "simulation has" : "simulations have"));
  return verdict;
}

/// The newest accuracy of what is not ranked yet.
std::string accuracy_text(const SimulateOutcome& outcome, const Ranking& ranking) {
  if (!ranking.places.empty()) return format_text("%.4f", ranking.places.front().accuracy.mean);
  const auto scores = fl::final_scores(outcome.methods.front().repeats.front());
  return scores ? format_text("%.4f", scores->accuracy) : "not known yet";
}

}  // namespace

page::Document page_of_simulations(const SimulateOutcome& outcome) {
  const fl::Config& config = outcome.config;
  const Ranking ranking = ranking_of(outcome);
  std::uint64_t peak = 0;
  std::size_t under_way = 0;
  for (const fl::MethodRuns& runs : outcome.methods) {
    for (const fl::SimulationResult& result : runs.repeats) {
      peak = std::max(peak, result.peak_rss);
      under_way += result.stopped ? 1 : 0;
    }
  }
  page::Document page;
  page.title = outcome.compare ? "Comparison of selection methods"
                               : "Simulation: " + outcome.methods.front().method;
  page.subtitle = format_text("%s, %s, %u clients, %u per round, %u rounds, partition %s",
                              config.dataset.c_str(), config.model.c_str(), config.clients,
                              config.per_round, config.rounds, fl::name_of(config.partition.kind));
  page.facts = {{outcome.compare ? "best accuracy" : "accuracy", accuracy_text(outcome, ranking)},
                {"seeds", std::to_string(outcome.seeds.size())},
                {"peak rss", peak > 0 ? bytes_text(peak) : "not known"},
                {"rounds", std::to_string(config.rounds)},
                {"clients", std::to_string(config.clients)}};
  const bool is_ranked = outcome.compare && !ranking.places.empty();
  if (is_ranked) page.verdict = best_card(ranking, under_way);
  add_plots(outcome, page);
  const fl::MemoryPlan& plan = outcome.methods.front().repeats.front().plan;
  if (!plan.items.empty()) page.bars.push_back(memory_plan_chart(plan));
  if (is_ranked) page.tables.push_back(ranking_table(ranking));
  page.tables.push_back(results_table(outcome));
  if (page::Table clients = clients_table(outcome); !clients.rows.empty())
    page.tables.push_back(std::move(clients));
  return page;
}

}  // namespace ebb::show
