// SPDX-License-Identifier: Apache-2.0
#include "story/site_looks.h"

#include <algorithm>

namespace ebb::story {
namespace {

// In which a program takes itself apart.
constexpr std::size_t kLastLooks = 5;

}  // namespace

std::map<record::ProcessKey, SiteLooks> site_looks_of(const record::RecordedRun& run) {
  std::map<record::ProcessKey, SiteLooks> all;
  for (const record::Sampling& sampling : run.samplings)
    all[sampling.process].totals.push_back({sampling.seconds, static_cast<double>(sampling.bytes)});
  // A program that ends in order gives everything back: that is no part of its story.
  for (const record::ProcessHistory& history : run.processes) {
    const auto looks = all.find(history.process.key());
    if (looks == all.end()) continue;
    looks->second.ended = history.process.ended;
    // Of the last ones of a run nobody may have seen the end.
    if (!history.process.ended && !run.summary.run.ended) continue;
    std::vector<trend::Point>& totals = looks->second.totals;
    double most = 0;
    for (std::size_t i = totals.size(); i > 0 && totals.size() - i < kLastLooks; --i)
      most = std::max(most, totals[i - 1].value);
    while (totals.size() > 1 && totals.back().value < most / 2)
      totals.pop_back();
  }
  return all;
}

}  // namespace ebb::story
