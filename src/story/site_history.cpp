// SPDX-License-Identifier: Apache-2.0
#include "story/site_history.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "story/site_looks.h"
#include "story/site_story.h"

namespace ebb::story {
namespace {

// A slider has no room for more, and each of them is a number per stack in the page.
constexpr std::size_t kMostMoments = 120;
constexpr std::size_t kMostStacks = 400;
constexpr std::uint64_t kLeastHeld = base::kMiB;

using StackKey = std::pair<record::ProcessKey, std::string>;
using Looks = std::map<record::ProcessKey, SiteLooks>;

/// Of all moments of a look: the first, the last, and others evenly between them.
std::vector<double> moments_of(const Looks& looks) {
  std::set<double> all;
  for (const auto& [process, seen] : looks)
    for (const trend::Point& look : seen.totals)
      all.insert(look.seconds);
  const std::vector<double> every(all.begin(), all.end());
  if (every.size() <= kMostMoments) return every;
  std::vector<double> some;
  for (std::size_t i = 0; i < kMostMoments; ++i)
    some.push_back(every[i * (every.size() - 1) / (kMostMoments - 1)]);
  return some;
}

/// What a stack held at each moment: as at the last look at its process, until that had ended.
std::vector<std::uint64_t> held_at(const std::vector<double>& moments,
                                   const std::map<double, std::uint64_t>& seen,
                                   const SiteLooks& looks) {
  std::vector<std::uint64_t> held;
  auto look = looks.totals.begin();
  for (const double moment : moments) {
    while (look != looks.totals.end() && look->seconds <= moment)
      ++look;
    const bool is_there = look != looks.totals.begin() && (!looks.ended || moment <= *looks.ended);
    const auto found = is_there ? seen.find(std::prev(look)->seconds) : seen.end();
    held.push_back(found != seen.end() ? found->second : 0);
  }
  return held;
}

}  // namespace

SiteHistory site_history_of(const record::RecordedRun& run) {
  const Looks looks = site_looks_of(run);
  // Read once each: there are many more rows than stacks.
  std::map<std::pair<record::ProcessKey, std::uint32_t>, StackKey> keys;
  std::map<StackKey, fact::SiteStack> frames;
  for (const record::SiteName& name : run.site_names) {
    const StackKey key{name.process, reading_of(name.frames)};
    keys[{name.process, name.number}] = key;
    frames[key] = name.frames;
  }
  std::map<StackKey, std::map<double, std::uint64_t>> seen;
  for (const record::Site& row : run.sites) {
    const auto process = looks.find(row.process);
    if (process == looks.end() || !process->second.holds(row.seconds)) continue;
    const auto named = keys.find({row.process, row.number});
    seen[named != keys.end() ? named->second : StackKey{row.process, ""}][row.seconds] += row.bytes;
  }
  SiteHistory history;
  history.moments = moments_of(looks);
  std::vector<std::pair<std::uint64_t, HeldOverTime>> all;
  for (const auto& [key, bytes] : seen) {
    HeldOverTime one{key.first, frames[key], held_at(history.moments, bytes, looks.at(key.first))};
    const std::uint64_t most = *std::max_element(one.bytes.begin(), one.bytes.end());
    if (most >= kLeastHeld) all.emplace_back(most, std::move(one));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (all.size() > kMostStacks) all.resize(kMostStacks);
  for (auto& [most, one] : all)
    history.stacks.push_back(std::move(one));
  return history;
}

}  // namespace ebb::story
