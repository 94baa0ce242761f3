// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "replay/lifetimes.h"
#include "replay/tune/knobs.h"
#include "replay/tune/objective.h"

namespace ebb::replay {

/// How one setting does for all jobs; the smaller the better.
struct Score {
  std::uint64_t failures = 0;  ///< jobs that run out of memory where the recording did not
  double primary = 0;
  int settings = 0;  ///< of two that do as well, the simpler one
  double secondary = 0;

  friend bool operator<(const Score& a, const Score& b);
};

struct Trial {
  Knobs knobs;
  Score score;
  std::uint64_t peak = 0;  ///< the largest of all jobs
  bool complete = false;
};

/// Searches for what fits the recorded requests best. Replays settings in batches; what a batch may
/// abandon is decided before it starts, so that the result does not depend on which thread is
/// faster.
class Search {
 public:
  struct Options {
    Objective objective = Objective::memory;
    Circumstances circumstances;
    std::size_t keep = 1;  ///< as many of the best as are wanted
    std::function<void(double share)> progress;
  };

  Search(const std::vector<const Workload*>& jobs, Options options);

  const cache::VersionProfile& profile() const { return profile_; }
  bool is_limited() const;
  const std::vector<LowerBound>& bounds() const { return bounds_; }
  /// The best ones, best first, as many as were to be kept. Not empty after run().
  const std::vector<Trial>& best() const { return best_; }
  std::uint64_t tried() const { return tried_; }
  /// No settings can hold less than the best: what is live fills whole units.
  bool is_proven() const;

  /// All combinations of the space and, where `refine`, what lies around the best of them.
  void run(const SearchSpace& space, bool refine);

 private:
  bool try_all(const std::vector<Knobs>& candidates, double share_before, double share_after);
  std::uint64_t abandon_above(const Trial& trial) const;
  void replay_for(Trial& trial, std::uint64_t abandon) const;
  void take(const Trial& trial);

  const std::vector<const Workload*>& jobs_;
  Options options_;
  cache::VersionProfile profile_;
  std::vector<std::uint64_t> limits_;
  std::vector<LowerBound> bounds_;
  std::set<std::string> seen_;
  std::vector<Trial> best_;
  std::uint64_t tried_ = 0;
};

}  // namespace ebb::replay
