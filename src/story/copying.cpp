// SPDX-License-Identifier: Apache-2.0
#include "story/copying.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/bytes.h"

namespace ebb::story {
namespace {

using record::ProcessHistory;

// A process that shares less has run another program since its fork.
constexpr std::uint64_t kLeastShared = 4 * base::kMiB;
// Between two readings, less is unrest.
constexpr double kLeastStep = 256 * 1024;
constexpr std::uint64_t kLeastCopied = 32 * base::kMiB;
constexpr double kLeastShareCopied = 0.1;

/// One reading of what a process shares.
struct Share {
  double seconds = 0;
  double held = 0;   ///< anonymous
  double saved = 0;  ///< of that, by sharing
  double pss = 0;
  double uss = 0;
};

struct Relative {
  std::size_t index = 0;
  double began = 0, ended = INFINITY;
  std::vector<Share> shares;

  /// The last reading until then.
  const Share* at(double seconds) const {
    const auto after =
        std::upper_bound(shares.begin(), shares.end(), seconds,
                         [](double moment, const Share& one) { return moment < one.seconds; });
    return after == shares.begin() ? nullptr : &*(after - 1);
  }
};

std::vector<Share> shares_of(const ProcessHistory& history) {
  std::vector<Share> shares;
  for (const record::Reading& reading : history.readings) {
    if (!reading.shared || !reading.anon || !reading.pss || !reading.uss) continue;
    const auto mean = [](const std::optional<record::Extent>& part) {
      return static_cast<double>(part->mean);
    };
    shares.push_back({reading.middle(), mean(reading.anon), mean(reading.shared), mean(reading.pss),
                      mean(reading.uss)});
  }
  return shares;
}

/// Which processes share with which: parents with their children, children of one parent.
std::vector<std::vector<std::size_t>> families_of(const record::RecordedRun& run) {
  std::map<std::int32_t, std::vector<std::size_t>> by_parent;
  std::map<std::int32_t, std::size_t> by_pid;
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    const auto& readings = run.processes[i].readings;
    if (std::none_of(readings.begin(), readings.end(), [](const record::Reading& reading) {
          return reading.shared && reading.shared->high >= kLeastShared;
        }))
      continue;
    by_parent[run.processes[i].process.parent].push_back(i);
    by_pid[run.processes[i].process.pid] = i;  // the newest of a number that was used again
  }
  std::map<std::size_t, std::size_t> leader;
  for (const auto& [pid, index] : by_pid)
    leader[index] = index;
  const auto leader_of = [&](std::size_t index) {
    while (leader[index] != index)
      index = leader[index];
    return index;
  };
  for (const auto& [parent, children] : by_parent) {
    const auto found = by_pid.find(parent);
    const std::size_t head = found != by_pid.end() ? found->second : children.front();
    for (const std::size_t child : children) {
      leader.try_emplace(child, child);
      leader[leader_of(child)] = leader_of(head);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> families;
  for (const auto& [index, unused] : leader)
    families[leader_of(index)].push_back(index);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [index, members] : families)
    if (members.size() > 1) result.push_back(std::move(members));
  return result;
}

struct Sums {
  double held = 0, saved = 0, pss = 0;
};

class Family {
 public:
  Family(const record::RecordedRun& run, const std::vector<std::size_t>& members) {
    std::vector<double> moments;
    for (const std::size_t index : members) {
      const ProcessHistory& history = run.processes[index];
      Relative one{index, history.process.seconds, history.process.ended.value_or(INFINITY),
                   shares_of(history)};
      for (const Share& share : one.shares)
        moments.push_back(share.seconds);
      relatives_.push_back(std::move(one));
    }
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    moments_ = std::move(moments);
    find_root(run);
  }

  Copying judge() {
    std::vector<std::pair<double, double>> steps;
    for (std::size_t i = 1; i < moments_.size(); ++i) {
      const auto change = change_between(moments_[i - 1], moments_[i]);
      if (!change) continue;
      ++found_.readings;
      const double copied = std::min(-change->saved, change->held - change->saved);
      if (copied >= kLeastStep) take_step(moments_[i - 1], moments_[i], copied, steps);
    }
    if (found_.readings == 0) return found_;
    found_.last = moments_.back();
    const double late = found_.since + (found_.last - found_.since) * 2 / 3;
    for (const auto& [seconds, copied] : steps)
      if (seconds > late) found_.copied_late += static_cast<std::uint64_t>(copied);
    found_.still_shared = static_cast<std::uint64_t>(sums_at(found_.last).saved);
    for (const Relative& one : relatives_)
      add_process(one);
    return found_;
  }

 private:
  void find_root(const record::RecordedRun& run) {
    for (const Relative& one : relatives_) {
      const std::int32_t parent = run.processes[one.index].process.parent;
      const bool has_parent =
          std::any_of(relatives_.begin(), relatives_.end(), [&](const Relative& other) {
            return run.processes[other.index].process.pid == parent && other.index != one.index;
          });
      const bool has_children =
          std::any_of(relatives_.begin(), relatives_.end(), [&](const Relative& other) {
            return run.processes[other.index].process.parent ==
                   run.processes[one.index].process.pid;
          });
      if (!has_parent && has_children && !root_) root_ = one.index;
    }
  }

  void take_step(double from, double to, double copied,
                 std::vector<std::pair<double, double>>& steps) {
    if (found_.copied == 0) {
      found_.since = from;
      found_.pss_before = static_cast<std::uint64_t>(sums_at(from).pss);
    }
    found_.until = to;
    found_.pss_after = static_cast<std::uint64_t>(sums_at(to).pss);
    found_.copied += static_cast<std::uint64_t>(copied);
    steps.emplace_back(to, copied);
  }

  void add_process(const Relative& one) {
    CopyingProcess process;
    process.index = one.index;
    process.is_root = root_ == one.index;
    std::optional<double> first;
    for (const Share& share : one.shares) {
      // Before its first fork it shared with nobody.
      if (share.seconds < found_.since) continue;
      if (!first) first = share.uss;
      process.uss_after = std::max(process.uss_after, static_cast<std::uint64_t>(share.uss));
    }
    process.uss_before = static_cast<std::uint64_t>(first.value_or(0));
    if (first) found_.processes.push_back(process);
  }

  Sums sums_at(double seconds) const {
    Sums sums;
    for (const Relative& one : relatives_) {
      const Share* share = one.at(seconds);
      if (share == nullptr || seconds >= one.ended) continue;
      sums.held += share->held;
      sums.saved += share->saved;
      sums.pss += share->pss;
    }
    return sums;
  }

  /// Nothing where a process came or ended in between.
  std::optional<Sums> change_between(double from, double to) const {
    std::size_t there = 0;
    for (const Relative& one : relatives_) {
      if (one.ended <= from || one.began > to) continue;
      if (one.at(from) == nullptr || one.ended <= to) return std::nullopt;
      ++there;
    }
    if (there < 2) return std::nullopt;
    const Sums before = sums_at(from);
    const Sums after = sums_at(to);
    return Sums{after.held - before.held, after.saved - before.saved, after.pss - before.pss};
  }

  std::vector<Relative> relatives_;
  std::vector<double> moments_;
  std::optional<std::size_t> root_;
  Copying found_;
};

}  // namespace

bool Copying::matters() const {
  return copied >= kLeastCopied &&
         static_cast<double>(copied) >= kLeastShareCopied * static_cast<double>(pss_before);
}

std::vector<Copying> copying_in(const record::RecordedRun& run) {
  std::vector<Copying> found;
  for (const std::vector<std::size_t>& members : families_of(run)) {
    Copying one = Family(run, members).judge();
    if (one.copied > 0) found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Copying& a, const Copying& b) { return a.copied > b.copied; });
  return found;
}

}  // namespace ebb::story
