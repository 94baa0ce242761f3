// SPDX-License-Identifier: Apache-2.0
#include "story/site_looks.h"

namespace ebb::story {
namespace {

// In which a program takes itself apart. On a busy machine there are more, of which so many at the
// most show nothing of it.
constexpr std::size_t kLastLooks = 5;
constexpr double kLastSeconds = 60;

/// The look after which a program took itself apart: from there on its sites held less and less,
/// though not always in a few looks that follow each other.
std::size_t top_before_end(const std::vector<trend::Point>& totals) {
  std::size_t top = totals.size() - 1;
  for (std::size_t i = top; i-- > 0 && top - i < kLastLooks;) {
    if (totals.back().seconds - totals[i].seconds > kLastSeconds && i + kLastLooks < totals.size())
      break;
    if (totals[i].value > totals[top].value) top = i;
  }
  return top;
}

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
    const std::size_t top = top_before_end(totals);
    if (totals.back().value < totals[top].value / 2) totals.resize(top + 1);
  }
  return all;
}

}  // namespace ebb::story
