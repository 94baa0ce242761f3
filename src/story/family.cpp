// SPDX-License-Identifier: Apache-2.0
#include "story/family.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"

namespace ebb::story {
namespace {

using record::ProcessHistory;
using record::Reading;

constexpr std::uint64_t kLeastShared = 4 * base::kMiB;

bool shares_much(const ProcessHistory& history) {
  return std::any_of(history.readings.begin(), history.readings.end(), [](const Reading& reading) {
    return reading.shared && reading.shared->high >= kLeastShared;
  });
}

std::vector<Share> shares_of(const ProcessHistory& history) {
  std::vector<Share> shares;
  for (const Reading& reading : history.readings) {
    if (!reading.shared || !reading.anon || !reading.uss) continue;
    shares.push_back({reading.middle(), static_cast<double>(reading.anon->mean),
                      static_cast<double>(reading.shared->mean),
                      static_cast<double>(reading.uss->mean)});
  }
  return shares;
}

/// Anonymous memory at a moment: the last reading until then, else the first one.
double anon_at(const ProcessHistory& history, double seconds) {
  double anon = 0;
  bool found = false;
  for (const Reading& reading : history.readings) {
    if (!reading.anon) continue;
    if (found && reading.middle() > seconds) break;
    anon = static_cast<double>(reading.anon->mean);
    found = true;
  }
  return anon;
}

/// Sets of indices that belong together.
class Groups {
 public:
  void add(std::size_t index) { leader_.emplace(index, index); }

  void join(std::size_t one, std::size_t other) { leader_[leader_of(one)] = leader_of(other); }

  std::vector<std::vector<std::size_t>> all() {
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (const auto& [index, unused] : leader_)
      groups[leader_of(index)].push_back(index);
    std::vector<std::vector<std::size_t>> result;
    for (auto& [index, members] : groups)
      result.push_back(std::move(members));
    return result;
  }

 private:
  std::size_t leader_of(std::size_t index) const {
    while (leader_.at(index) != index)
      index = leader_.at(index);
    return index;
  }

  std::map<std::size_t, std::size_t> leader_;
};

Family family_of(const record::RecordedRun& run, const std::vector<std::size_t>& members) {
  std::map<std::int32_t, std::size_t> by_pid;
  for (std::size_t i = 0; i < members.size(); ++i)
    by_pid[run.processes[members[i]].process.pid] = i;
  Family family;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ProcessHistory& history = run.processes[members[i]];
    Relative one;
    one.index = members[i];
    one.began = history.process.seconds;
    one.ended = history.process.ended.value_or(INFINITY);
    one.shares = shares_of(history);
    const auto parent = by_pid.find(history.process.parent);
    if (parent != by_pid.end() && parent->second != i) one.parent = parent->second;
    family.push_back(std::move(one));
  }
  for (Relative& one : family) {
    const ProcessHistory& own = run.processes[one.index];
    if (one.parent) {
      // What it allocated before it was first read must not count as inherited.
      one.inherited = std::min(anon_at(own, one.began),
                               anon_at(run.processes[family[*one.parent].index], one.began));
      continue;
    }
    double first_fork = INFINITY;
    for (const Relative& other : family)
      if (other.parent && &family[*other.parent] == &one)
        first_fork = std::min(first_fork, other.began);
    one.inherited = anon_at(own, first_fork);
  }
  return family;
}

}  // namespace

const Share* Relative::at(double seconds) const {
  const auto after =
      std::upper_bound(shares.begin(), shares.end(), seconds,
                       [](double moment, const Share& one) { return moment < one.seconds; });
  return after == shares.begin() ? nullptr : &*(after - 1);
}

std::vector<Family> families_of(const record::RecordedRun& run) {
  std::map<std::int32_t, std::vector<std::size_t>> by_parent;
  std::map<std::int32_t, std::size_t> by_pid;
  Groups groups;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    if (!shares_much(run.processes[i])) continue;
    const record::Process& process = run.processes[i].process;
    groups.add(i);
    by_parent[process.parent].push_back(i);
    by_pid[process.pid] = i;  // the newest of a number that was used again
  }
  for (const auto& [parent, children] : by_parent) {
    const auto found = by_pid.find(parent);
    for (const std::size_t child : children)
      groups.join(child, found != by_pid.end() ? found->second : children.front());
  }
  std::vector<Family> families;
  for (const std::vector<std::size_t>& members : groups.all())
    if (members.size() > 1) families.push_back(family_of(run, members));
  return families;
}

}  // namespace ebb::story
