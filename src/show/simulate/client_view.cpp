// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/client_view.h"

#include <algorithm>

#include "base/text.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using fl::ClientScores;
using fl::ClientSpread;

/// The mean over the seeds that have one.
std::string mean_text(const std::vector<const ClientScores*>& scores,
                      ClientSpread ClientScores::*kind, double ClientSpread::*value) {
  double sum = 0;
  for (const ClientScores* one : scores)
    sum += one->*kind.*value;
  return base::format_text("%.4f", sum / static_cast<double>(scores.size()));
}

}  // namespace

const ClientScores* last_client_scores(const fl::SimulationResult& result) {
  const auto found =
      std::find_if(result.rounds.rbegin(), result.rounds.rend(),
                   [](const fl::RoundReport& round) { return round.client_scores.has_value(); });
  return found == result.rounds.rend() ? nullptr : &*found->client_scores;
}

std::string client_table(const SimulateOutcome& outcome, const std::vector<fl::Ranked>& ranking,
                         const term::Style& style) {
  term::Table table({{"method", term::Align::left},
                     {"clients' accuracy"},
                     {"spread"},
                     {"worst tenth"},
                     {"loss"},
                     {"spread"},
                     {"worst tenth"}});
  bool is_empty = true;
  for (const fl::Ranked& ranked : ranking) {
    const fl::MethodRuns& runs = outcome.methods[ranked.index];
    std::vector<const ClientScores*> scores;
    for (const fl::SimulationResult& result : runs.repeats)
      if (const ClientScores* last = last_client_scores(result)) scores.push_back(last);
    if (scores.empty()) continue;
    is_empty = false;
    std::vector<std::string> cells = {runs.method};
    for (const auto kind : {&ClientScores::accuracy, &ClientScores::loss}) {
      for (const auto value :
           {&ClientSpread::mean, &ClientSpread::deviation, &ClientSpread::worst_tenth})
        cells.push_back(mean_text(scores, kind, value));
    }
    table.add_row(cells);
  }
  return is_empty ? "" : "\n" + table.text(style);
}

}  // namespace ebb::show
