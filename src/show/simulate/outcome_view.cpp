// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/outcome_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "show/report_hint.h"
#include "show/simulate/client_view.h"
#include "show/simulate/privacy_lines.h"
#include "show/simulate/round_time.h"
#include "term/sparkline.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using base::Json;
using term::Align;

constexpr std::size_t kAccuracyCurveWidth = 30;
/// Accuracies that differ by less than this are drawn flat.
constexpr double kFlatAccuracy = 0.02;

std::string share_text(double share) {
  return format_text("%.4f", share);
}

std::string seconds_or_dash(const std::optional<double>& seconds) {
  return seconds ? base::duration_text(*seconds) : "-";
}

double mean_of(const fl::MethodRuns& runs, double (*value)(const fl::SimulationResult&)) {
  double sum = 0;
  for (const fl::SimulationResult& result : runs.repeats)
    sum += value(result);
  return sum / static_cast<double>(runs.repeats.size());
}

/// The last round's figures: sums since round 0.
double last(const fl::SimulationResult& result, double fl::RoundReport::*member) {
  return result.rounds.empty() ? 0 : result.rounds.back().*member;
}

std::optional<double> mean_milestone(const fl::MethodRuns& runs,
                                     std::optional<double> fl::Milestones::*member) {
  double sum = 0;
  for (const fl::SimulationResult& result : runs.repeats) {
    const auto seconds = fl::milestones_of(result).*member;
    if (!seconds) return std::nullopt;
    sum += *seconds;
  }
  return sum / static_cast<double>(runs.repeats.size());
}

std::string accuracy_text(const fl::Band& band, std::size_t repeats) {
  if (repeats < 2) return share_text(band.mean);
  return format_text("%.4f ± %.4f", band.mean, band.high - band.mean);
}

std::string curve_of(const fl::MethodRuns& runs) {
  std::vector<double> accuracies;
  for (const fl::RoundBand& band : fl::bands_of(runs.repeats))
    if (band.accuracy) accuracies.push_back(band.accuracy->mean);
  return term::sparkline(accuracies, kAccuracyCurveWidth, kFlatAccuracy);
}

std::string versus_best(const fl::Ranked& ranked, std::size_t place) {
  if (place == 0) return "best";
  if (!ranked.against_best) return "-";
  return format_text("%+.4f, p %.3f", ranked.against_best->difference, ranked.against_best->p);
}

std::string score_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking,
                        const term::Style& style) {
  const bool several = outcome.methods.size() > 1;
  std::vector<term::Table::Column> columns = {
      {"method", Align::left}, {"accuracy"}, {"macro F1"}, {"loss"}, {"Gini"}, {"entropy"}};
  if (several) columns.push_back({"against the best"});
  columns.push_back({"accuracy by round", Align::left});
  term::Table table(columns);
  for (std::size_t place = 0; place < ranking.size(); ++place) {
    const fl::MethodRuns& runs = outcome.methods[ranking[place].index];
    const auto f1 = [](const fl::SimulationResult& result) {
      return fl::final_scores(result).value_or(fl::Scores{}).macro.f1;
    };
    const auto loss = [](const fl::SimulationResult& result) {
      return fl::final_scores(result).value_or(fl::Scores{}).loss;
    };
    const auto gini = [](const fl::SimulationResult& result) {
      return result.rounds.empty() ? 0 : result.rounds.back().participation.gini;
    };
    const auto entropy = [](const fl::SimulationResult& result) {
      return result.rounds.empty() ? 0 : result.rounds.back().participation.entropy;
    };
    std::vector<std::string> cells = {
        runs.method,
        style.paint(accuracy_text(ranking[place].accuracy, runs.repeats.size()),
                    place == 0 ? term::Colour::green : term::Colour::none),
        share_text(mean_of(runs, f1)),
        share_text(mean_of(runs, loss)),
        format_text("%.3f", mean_of(runs, gini)),
        format_text("%.3f", mean_of(runs, entropy))};
    if (several) cells.push_back(versus_best(ranking[place], place));
    cells.push_back(style.paint(curve_of(runs), term::Colour::green));
    table.add_row(cells);
  }
  return table.text(style);
}

std::string cost_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking,
                       const term::Style& style) {
  term::Table table({{"method", Align::left},
                     {"sent"},
                     {"TFLOPs"},
                     {"simulated"},
                     {"to 50 %"},
                     {"80 %"},
                     {"90 %"},
                     {"set-up"},
                     {"peak rss"}});
  for (const fl::Ranked& ranked : ranking) {
    const fl::MethodRuns& runs = outcome.methods[ranked.index];
    const auto sent = [](const fl::SimulationResult& result) {
      return last(result, &fl::RoundReport::communicated_bytes);
    };
    const auto flops = [](const fl::SimulationResult& result) {
      return last(result, &fl::RoundReport::flops);
    };
    const auto simulated = [](const fl::SimulationResult& result) {
      return last(result, &fl::RoundReport::simulated_seconds);
    };
    const auto setup = [](const fl::SimulationResult& result) { return result.setup_seconds; };
    std::uint64_t peak = 0;
    for (const fl::SimulationResult& result : runs.repeats)
      peak = std::max(peak, result.peak_rss);
    table.add_row({runs.method, format_text("%.1f MB", mean_of(runs, sent) / 1e6),
                   format_text("%.3f", mean_of(runs, flops) / 1e12),
                   base::duration_text(mean_of(runs, simulated)),
                   seconds_or_dash(mean_milestone(runs, &fl::Milestones::half)),
                   seconds_or_dash(mean_milestone(runs, &fl::Milestones::four_fifths)),
                   seconds_or_dash(mean_milestone(runs, &fl::Milestones::nine_tenths)),
                   base::duration_text(mean_of(runs, setup)), bytes_text(peak)});
  }
  return table.text(style);
}

/// Where the time of rounds goes on this machine.
std::string time_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking,
                       const term::Style& style) {
  std::vector<term::Table::Column> columns = {{"method", Align::left}, {"wall/round"}};
  for (const RoundTime::Part& part : round_time_of({}).parts)
    columns.push_back({part.name});
  term::Table table(columns);
  for (const fl::Ranked& ranked : ranking) {
    const fl::MethodRuns& runs = outcome.methods[ranked.index];
    const RoundTime time = round_time_of(runs);
    std::vector<std::string> cells = {runs.method, base::duration_text(time.wall)};
    for (const RoundTime::Part& part : time.parts)
      cells.push_back(base::duration_text(part.seconds));
    table.add_row(cells);
  }
  return table.text(style);
}

std::string privacy_lines(const SimulateOutcome& outcome) {
  std::string text;
  for (const PrivacyLine& line : privacy_of(outcome))
    text +=
        (text.empty() ? "\nprivacy    " : "           ") + line.method + ": " + line.text + "\n";
  return text;
}

/// Of methods that look at some of very many clients: at how many, and what they had them do.
std::string candidate_lines(const SimulateOutcome& outcome) {
  std::string text;
  for (const fl::MethodRuns& runs : outcome.methods) {
    const fl::SimulationResult& first = runs.repeats.front();
    if (fl::candidates_json(first.config).is_null()) continue;
    const bool once = fl::candidates_of(runs.method) == fl::CandidatesDrawn::once;
    std::uint64_t probed = 0;
    for (const fl::RoundReport& round : first.rounds)
      probed += round.probed;
    text +=
        format_text("%s%s: %u of %u clients, drawn %s",
                    text.empty() ? "\ncandidates " : "           ", runs.method.c_str(),
                    first.config.candidates, first.config.clients, once ? "once" : "in each round");
    if (probed > 0)
      text += format_text("; asked %llu times for a loss", static_cast<unsigned long long>(probed));
    text += "\n";
  }
  return text;
}

std::string known_bytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_text(*bytes) : "unknown";
}

std::string cleanup_lines(const SimulateOutcome& outcome) {
  if (outcome.cleanups.size() < 2) return {};
  std::string text = "\nrss        " + known_bytes(outcome.start_rss) + " before the first\n";
  for (const fl::CleanupBetween& between : outcome.cleanups)
    text += format_text("           %s -> %s after %s, seed %llu\n",
                        known_bytes(between.cleanup.before.rss).c_str(),
                        known_bytes(between.cleanup.after.rss).c_str(), between.after.c_str(),
                        static_cast<unsigned long long>(between.seed));
  return text;
}

}  // namespace

std::string memory_plan_text(const fl::MemoryPlan& plan, const term::Style& style) {
  term::Table table({{"memory for", Align::left}, {"each"}, {"times"}, {"together"}});
  for (const fl::MemoryItem& item : plan.items) {
    const std::uint64_t times = item.per_client ? plan.parallel_clients : 1;
    const char* where = item.on_disk ? " (on disk)" : item.on_card ? " (on the card)" : "";
    table.add_row({item.purpose + where, bytes_text(item.bytes), std::to_string(times),
                   bytes_text(times * item.bytes)});
  }
  table.add_row({style.paint("planned", term::Colour::bold), "", "", bytes_text(plan.total())});
  std::string text = table.text(style);
  if (plan.card_available > 0)
    text += format_text("on the card %s of %s\n", bytes_text(plan.card_total()).c_str(),
                        bytes_text(plan.card_available).c_str());
  return text + format_text("available  %s (%s); %u clients at a time\n",
                            bytes_text(plan.available).c_str(), plan.available_from.c_str(),
                            plan.parallel_clients);
}

std::string outcome_text(const SimulateOutcome& outcome, const term::Style& style) {
  const std::vector<fl::Ranked> ranking = fl::ranking_of(outcome.methods);
  std::string text = score_table(outcome, ranking, style) + client_table(outcome, ranking, style) +
                     "\n" + cost_table(outcome, ranking, style) + "\n" +
                     time_table(outcome, ranking, style) + candidate_lines(outcome) +
                     privacy_lines(outcome) + cleanup_lines(outcome);
  if (outcome.methods.size() == 1 && outcome.methods.front().repeats.size() == 1)
    text += "\nmodel      sha256 " + outcome.methods.front().repeats.front().model_sha256 + "\n";
  return text;
}

std::vector<std::string> where_lines(const SimulateOutcome& outcome, bool quiet) {
  std::vector<std::string> lines;
  if (outcome.stopped && outcome.folder.empty()) {
    lines.emplace_back("stopped; without a folder it cannot be resumed");
  } else if (outcome.stopped) {
    lines.push_back(format_text("stopped; ebb %s --resume %s goes on",
                                outcome.compare ? "compare" : "simulate", outcome.folder.c_str()));
  }
  if (quiet) return lines;
  if (!outcome.page.empty()) lines.push_back("wrote " + outcome.page);
  if (!outcome.folder.empty()) lines.push_back("files in " + outcome.folder);
  if (outcome.runs.empty()) return lines;
  const auto last_run = static_cast<long long>(outcome.runs.back());
  const std::string which =
      outcome.runs.size() == 1
          ? format_text("run %lld in the record", last_run)
          : format_text("%zu runs in the record, the last is %lld", outcome.runs.size(), last_run);
  lines.push_back(which + " (" + report_hint(last_run, outcome.db) + ")");
  return lines;
}

Json outcome_json(const SimulateOutcome& outcome) {
  Json json;
  if (outcome.compare) {
    Json methods = Json::array();
    for (const fl::MethodRuns& runs : outcome.methods)
      methods.push(fl::to_json(runs));
    json.set("methods", std::move(methods));
    json.set("ranking", fl::to_json(fl::ranking_of(outcome.methods), outcome.methods));
  } else if (!outcome.methods.empty()) {
    json = fl::to_json(outcome.methods.front());
  }
  Json seeds = Json::array();
  for (const std::uint64_t seed : outcome.seeds)
    seeds.push(seed);
  Json cleanups = Json::array();
  for (const fl::CleanupBetween& between : outcome.cleanups) {
    const fact::Cleanup& cleanup = between.cleanup;
    cleanups.push(Json::object({{"method", between.after},
                                {"seed", between.seed},
                                {"rss_before_bytes", cleanup.before.rss},
                                {"rss_after_bytes", cleanup.after.rss},
                                {"returned_bytes", cleanup.returned},
                                {"devices", fact::devices_json(cleanup.devices)},
                                {"seconds", cleanup.seconds}}));
  }
  Json runs = Json::array();
  for (const std::int64_t run : outcome.runs)
    runs.push(run);
  return json.set("seeds", std::move(seeds))
      .set("start_rss_bytes", outcome.start_rss)
      .set("cleanups", std::move(cleanups))
      .set("folder", outcome.folder.empty() ? Json() : Json(outcome.folder))
      .set("runs", std::move(runs))
      .set("stopped", outcome.stopped);
}

}  // namespace ebb::show
