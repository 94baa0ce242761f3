// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/outcome_plots.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/bytes.h"
#include "base/text.h"
#include "show/page_parts.h"
#include "show/simulate/round_time.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;

/// Of a row of a heat map; more would only be merged again.
constexpr std::uint32_t kMostFields = 100'000;
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
void add_band_point(page::Line& line, double x, const fl::Band& band, bool has_band,
                    double most = std::numeric_limits<double>::infinity()) {
  line.x.push_back(x);
  line.y.push_back(band.mean);
  if (!has_band) return;
  line.band_low.push_back(std::max(band.low, 0.0));
  line.band_high.push_back(std::min(band.high, most));
}

/// A plot of each, with a line for each method.
struct RoundPlots {
  page::Plot accuracy = round_plot("Accuracy", "accuracy", page::Unit::number);
  page::Plot by_time = round_plot("Accuracy over simulated time", "accuracy", page::Unit::number);
  page::Plot loss = round_plot("Loss on the test set", "loss", page::Unit::number);
  page::Plot rss = round_plot("Memory at the end of each round", "rss", page::Unit::bytes);
};

void add_method(const fl::MethodRuns& runs, RoundPlots& plots) {
  const bool has_band = runs.repeats.size() > 1;
  page::Line accuracies = sloped_line(runs.method);
  page::Line by_time = sloped_line(runs.method);
  page::Line losses = sloped_line(runs.method);
  page::Line memory = sloped_line(runs.method);
  for (const fl::RoundBand& band : fl::bands_of(runs.repeats)) {
    const double round = band.round + 1.0;
    // Where one seed has come further than others, their mean may jump back.
    const bool is_later = by_time.x.empty() || band.simulated_seconds > by_time.x.back();
    if (band.accuracy) add_band_point(accuracies, round, *band.accuracy, has_band, 1);
    if (band.accuracy && is_later)
      add_band_point(by_time, band.simulated_seconds, *band.accuracy, has_band, 1);
    if (band.loss) add_band_point(losses, round, *band.loss, has_band);
    if (band.rss) add_band_point(memory, round, *band.rss, has_band);
  }
  if (has_band) {
    plots.accuracy.note = format_text("Mean of %zu seeds with its 95 %% band", runs.repeats.size());
    plots.by_time.note = "Each point is a round: the means of its time and its accuracy";
  }
  plots.accuracy.lines.push_back(std::move(accuracies));
  plots.by_time.lines.push_back(std::move(by_time));
  plots.loss.lines.push_back(std::move(losses));
  plots.rss.lines.push_back(std::move(memory));
}

/// What the model is to clients on their own samples, two lines for each method; without any where
/// clients were never evaluated.
page::Plot clients_plot(const SimulateOutcome& outcome) {
  page::Plot plot = round_plot("Accuracy for clients", "accuracy", page::Unit::number);
  plot.note = "On the training samples of each client; the mean over the seeds";
  for (const fl::MethodRuns& runs : outcome.methods) {
    struct Sum {
      double seeds = 0;
      double mean = 0;
      double worst = 0;
    };
    std::map<std::uint32_t, Sum> by_round;
    for (const fl::SimulationResult& result : runs.repeats) {
      for (const fl::RoundReport& round : result.rounds) {
        if (!round.client_scores) continue;
        Sum& sum = by_round[round.round];
        sum.seeds += 1;
        sum.mean += round.client_scores->accuracy.mean;
        sum.worst += round.client_scores->accuracy.worst_tenth;
      }
    }
    if (by_round.empty()) continue;
    page::Line all = sloped_line(runs.method);
    page::Line worst = sloped_line(runs.method + ", worst tenth");
    for (const auto& [round, sum] : by_round) {
      for (page::Line* line : {&all, &worst})
        line->x.push_back(round + 1.0);
      all.y.push_back(sum.mean / sum.seeds);
      worst.y.push_back(sum.worst / sum.seeds);
    }
    plot.lines.push_back(std::move(all));
    plot.lines.push_back(std::move(worst));
  }
  return plot;
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

std::uint32_t most_clients(const SimulateOutcome& outcome) {
  std::uint32_t most = 0;
  for (const fl::MethodRuns& runs : outcome.methods)
    for (const fl::SimulationResult& result : runs.repeats)
      most = std::max(most, result.config.clients);
  return most;
}

/// How often each client took part, the mean over the repeats: a row for each method.
page::HeatMap participation_map(const SimulateOutcome& outcome) {
  page::HeatMap map;
  map.title = "Who took part";
  map.note = "How often each client took part, the mean over the seeds";
  map.x_label = "client";
  map.y_label = "method";
  map.measured = "times it took part";
  for (const fl::MethodRuns& runs : outcome.methods) {
    page::HeatMap::Row row;
    row.name = runs.method;
    for (const fl::SimulationResult& result : runs.repeats) {
      const std::vector<std::uint32_t> counts = fl::participations_of(result);
      row.values.resize(std::max(row.values.size(), counts.size()));
      for (std::size_t i = 0; i < counts.size(); ++i)
        row.values[i] += counts[i] / static_cast<double>(runs.repeats.size());
    }
    map.rows.push_back(std::move(row));
  }
  return map;
}

/// The parts of a method's rounds, the mean over all of them.
page::Bar time_bar(const fl::MethodRuns& runs) {
  page::Bar bar;
  bar.name = runs.method;
  const RoundTime time = round_time_of(runs);
  if (time.wall == 0) return bar;
  double rest = time.wall;
  for (const RoundTime::Part& part : time.parts) {
    bar.parts.push_back({part.name, part.seconds});
    rest -= part.seconds;
  }
  // Rounds that an earlier Ebb recorded do not say where all of their time went.
  bar.parts.back().value += std::max(rest, 0.0);
  return bar;
}

page::BarChart time_chart(const SimulateOutcome& outcome) {
  page::BarChart chart;
  chart.title = "Time of a round";
  chart.note = "What this machine took for it, the mean over all rounds";
  chart.unit = page::Unit::seconds;
  for (const fl::MethodRuns& runs : outcome.methods)
    chart.bars.push_back(time_bar(runs));
  return chart;
}

}  // namespace

void add_plots(const SimulateOutcome& outcome, page::Document& page) {
  RoundPlots plots;
  plots.by_time.x_label = "simulated time";
  plots.by_time.x_unit = page::Unit::seconds;
  for (const fl::MethodRuns& runs : outcome.methods)
    add_method(runs, plots);
  for (page::Plot* plot : {&plots.accuracy, &plots.by_time, &plots.loss, &plots.rss})
    page.plots.push_back(std::move(*plot));
  if (page::Plot clients = clients_plot(outcome); !clients.lines.empty())
    page.plots.push_back(std::move(clients));
  page.plots.push_back(participation_plot(outcome));
  if (most_clients(outcome) <= kMostFields) page.heat_maps.push_back(participation_map(outcome));
  page.bars.push_back(time_chart(outcome));
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

}  // namespace ebb::show
