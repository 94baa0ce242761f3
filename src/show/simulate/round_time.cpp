// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/round_time.h"

namespace ebb::show {
namespace {

struct NamedPart {
  const char* name;
  double fl::RoundReport::*seconds;
};

constexpr NamedPart kRoundParts[] = {{"training", &fl::RoundReport::training_seconds},
                                     {"sums", &fl::RoundReport::sums_seconds},
                                     {"evaluation", &fl::RoundReport::evaluation_seconds},
                                     {"selection", &fl::RoundReport::selection_seconds},
                                     {"cleanup", &fl::RoundReport::cleanup_seconds},
                                     {"writing", &fl::RoundReport::writing_seconds},
                                     {"other", &fl::RoundReport::other_seconds}};

}  // namespace

RoundTime round_time_of(const fl::MethodRuns& runs) {
  double rounds = 0;
  for (const fl::SimulationResult& result : runs.repeats)
    rounds += static_cast<double>(result.rounds.size());
  const auto mean_of_rounds = [&](double fl::RoundReport::*seconds) {
    double sum = 0;
    for (const fl::SimulationResult& result : runs.repeats) {
      for (const fl::RoundReport& round : result.rounds)
        sum += round.*seconds;
    }
    return rounds > 0 ? sum / rounds : 0;
  };
  RoundTime time{mean_of_rounds(&fl::RoundReport::wall_seconds), {}};
  for (const NamedPart& part : kRoundParts)
    time.parts.push_back({part.name, mean_of_rounds(part.seconds)});
  return time;
}

}  // namespace ebb::show
