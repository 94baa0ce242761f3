// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/outcome_page.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/text.h"
#include "show/page_parts.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::Json;

/// Smaller parts of the plan are drawn together.
constexpr double kSmallShare = 0.005;

page::Plot round_plot(const char* title, const char* y_label, page::Unit unit) {
  page::Plot plot;
  plot.title = title;
  plot.x_label = "round";
  plot.x_unit = page::Unit::count;
  plot.y_label = y_label;
  plot.y_unit = unit;
  return plot;
}

/// `most`: what a value can be at all; none is below 0.
void add_band_point(page::Line& line, std::uint32_t round, const fl::Band& band, bool has_band,
                    double most = std::numeric_limits<double>::infinity()) {
  line.x.push_back(round + 1.0);
  line.y.push_back(band.mean);
  if (!has_band) return;
  line.band_low.push_back(std::max(band.low, 0.0));
  line.band_high.push_back(std::min(band.high, most));
}

void add_round_plots(const SimulateOutcome& outcome, page::Document& page) {
  page::Plot accuracy = round_plot("Accuracy", "accuracy", page::Unit::number);
  page::Plot loss = round_plot("Loss on the test set", "loss", page::Unit::number);
  page::Plot rss = round_plot("Memory at the end of each round", "rss", page::Unit::bytes);
  for (const fl::MethodRuns& runs : outcome.methods) {
    const bool has_band = runs.repeats.size() > 1;
    page::Line accuracies = sloped_line(runs.method);
    page::Line losses = sloped_line(runs.method);
    page::Line memory = sloped_line(runs.method);
    for (const fl::RoundBand& band : fl::bands_of(runs.repeats)) {
      if (band.accuracy) add_band_point(accuracies, band.round, *band.accuracy, has_band, 1);
      if (band.loss) add_band_point(losses, band.round, *band.loss, has_band);
      add_band_point(memory, band.round, band.rss, has_band);
    }
    if (has_band)
      accuracy.note = format_text("Mean of %zu seeds with its 95 %% band", runs.repeats.size());
    accuracy.lines.push_back(std::move(accuracies));
    loss.lines.push_back(std::move(losses));
    rss.lines.push_back(std::move(memory));
  }
  page.plots.push_back(std::move(accuracy));
  page.plots.push_back(std::move(loss));
  page.plots.push_back(std::move(rss));
}

/// Clients by how often they took part, the mean over the repeats.
page::Line histogram_of(const fl::MethodRuns& runs, std::uint32_t most) {
  page::Line line;
  line.name = runs.method;
  std::vector<double> clients(most + 2);
  for (const fl::SimulationResult& result : runs.repeats)
    for (const std::uint32_t count : fl::participations_of(result))
      clients[count] += 1.0 / static_cast<double>(runs.repeats.size());
  for (std::size_t i = 0; i < clients.size(); ++i) {
    line.x.push_back(static_cast<double>(i));
    line.y.push_back(clients[i]);
  }
  return line;
}

page::Plot participation_plot(const SimulateOutcome& outcome) {
  page::Plot plot;
  plot.title = "Participation";
  plot.note = "How many clients took part so many times; the narrower, the more even";
  plot.x_label = "times that a client took part";
  plot.x_unit = page::Unit::count;
  plot.y_label = "clients";
  plot.y_unit = page::Unit::number;
  std::uint32_t most = 0;
  for (const fl::MethodRuns& runs : outcome.methods) {
    for (const fl::SimulationResult& result : runs.repeats) {
      const std::vector<std::uint32_t> counts = fl::participations_of(result);
      if (!counts.empty()) most = std::max(most, *std::max_element(counts.begin(), counts.end()));
    }
  }
  for (const fl::MethodRuns& runs : outcome.methods)
    plot.lines.push_back(histogram_of(runs, most));
  return plot;
}

page::BarChart memory_plan_chart(const fl::MemoryPlan& plan) {
  page::BarChart chart;
  chart.title = "Memory, planned before the first round";
  chart.note = format_text("%u clients at a time; available %s (%s)", plan.parallel_clients,
                           bytes_text(plan.available).c_str(), plan.available_from.c_str());
  page::Bar bar;
  bar.name = "planned";
  double rest = 0;
  for (const fl::MemoryItem& item : plan.items) {
    if (item.on_disk || item.on_card) continue;
    const double bytes =
        static_cast<double>(item.bytes) * (item.per_client ? plan.parallel_clients : 1);
    if (bytes < kSmallShare * static_cast<double>(plan.total())) {
      rest += bytes;
    } else {
      bar.parts.push_back({item.purpose, bytes});
    }
  }
  if (rest > 0) bar.parts.push_back({"the rest", rest});
  chart.bars.push_back(std::move(bar));
  return chart;
}

page::Table results_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking) {
  using page::Unit;
  page::Table table;
  table.title = "Results";
  table.note = "One row for each simulation; times to a share of the final accuracy are simulated";
  table.columns = {column("method", Unit::text),           column("seed", Unit::text),
                   column("accuracy", Unit::number, true), column("macro F1", Unit::number),
                   column("loss", Unit::number),           column("Gini", Unit::number),
                   column("entropy", Unit::number),        column("MB sent", Unit::number),
                   column("TFLOPs", Unit::number),         column("simulated", Unit::seconds),
                   column("to 50 %", Unit::seconds),       column("to 80 %", Unit::seconds),
                   column("to 90 %", Unit::seconds),       column("peak rss", Unit::bytes)};
  for (const fl::Ranked& ranked : ranking) {
    for (const fl::SimulationResult& result : outcome.methods[ranked.index].repeats) {
      const fl::Scores scores = fl::final_scores(result).value_or(fl::Scores{});
      const fl::Milestones milestones = fl::milestones_of(result);
      const fl::RoundReport last = result.rounds.empty() ? fl::RoundReport{} : result.rounds.back();
      table.rows.push_back({Json(result.config.method), Json(std::to_string(result.config.seed)),
                            Json(scores.accuracy), Json(scores.macro.f1), Json(scores.loss),
                            Json(last.participation.gini), Json(last.participation.entropy),
                            Json(last.communicated_bytes / 1e6), Json(last.flops / 1e12),
                            Json(last.simulated_seconds), Json(milestones.half),
                            Json(milestones.four_fifths), Json(milestones.nine_tenths),
                            Json(result.peak_rss)});
    }
  }
  return table;
}

page::Table ranking_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking) {
  using page::Unit;
  page::Table table;
  table.title = "Ranking";
  table.note = "By the mean of the final accuracies; p of a paired t test against the best";
  table.columns = {column("rank", Unit::count),
                   column("method", Unit::text),
                   column("accuracy", Unit::number, true),
                   column("from", Unit::number),
                   column("to", Unit::number),
                   column("against the best", Unit::number),
                   column("p", Unit::number)};
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    const fl::Ranked& ranked = ranking[place];
    const auto& test = ranked.against_best;
    table.rows.push_back({Json(std::uint64_t{place + 1}),
                          Json(outcome.methods[ranked.index].method), Json(ranked.accuracy.mean),
                          Json(ranked.accuracy.low), Json(ranked.accuracy.high),
                          test ? Json(test->difference) : Json(), test ? Json(test->p) : Json()});
  }
  table.highlight = 0;
  return table;
}

page::Verdict best_card(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking) {
  page::Verdict verdict;
  const fl::Ranked& best = ranking.front();
  verdict.name = "best";
  verdict.headline = format_text("%s: final accuracy %.4f",
                                 outcome.methods[best.index].method.c_str(), best.accuracy.mean);
  verdict.tone = page::Tone::good;
  for (std::size_t place = 1; place < ranking.size(); ++place) {
    const fl::Ranked& other = ranking[place];
    std::string line = format_text("%s: %+.4f", outcome.methods[other.index].method.c_str(),
                                   other.accuracy.mean - best.accuracy.mean);
    if (other.against_best)
      line += format_text(" (95 %%: %+.4f to %+.4f, p %.3f)", other.against_best->low,
                          other.against_best->high, other.against_best->p);
    verdict.evidence.push_back(line);
  }
  return verdict;
}

}  // namespace

page::Document page_of_simulations(const SimulateOutcome& outcome) {
  const fl::Config& config = outcome.config;
  const std::vector<fl::Ranked> ranking = fl::ranking_of(outcome.methods);
  const fl::MethodRuns& best = outcome.methods[ranking.front().index];
  std::uint64_t peak = 0;
  for (const fl::MethodRuns& runs : outcome.methods)
    for (const fl::SimulationResult& result : runs.repeats)
      peak = std::max(peak, result.peak_rss);
  page::Document page;
  page.title = outcome.compare ? "Comparison of selection methods" : "Simulation: " + best.method;
  page.subtitle = format_text("%s, %s, %u clients, %u per round, %u rounds, partition %s",
                              config.dataset.c_str(), config.model.c_str(), config.clients,
                              config.per_round, config.rounds, fl::name_of(config.partition.kind));
  page.facts = {{outcome.compare ? "best accuracy" : "accuracy",
                 format_text("%.4f", ranking.front().accuracy.mean)},
                {"seeds", std::to_string(outcome.seeds.size())},
                {"peak rss", bytes_text(peak)},
                {"rounds", std::to_string(config.rounds)},
                {"clients", std::to_string(config.clients)}};
  if (outcome.compare) page.verdict = best_card(outcome, ranking);
  add_round_plots(outcome, page);
  page.plots.push_back(participation_plot(outcome));
  page.bars.push_back(memory_plan_chart(best.repeats.front().plan));
  if (outcome.compare) page.tables.push_back(ranking_table(outcome, ranking));
  page.tables.push_back(results_table(outcome, ranking));
  return page;
}

}  // namespace ebb::show
