// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/reclaimer.h"
#include "fact/cleanup.h"
#include "fl/comparison.h"
#include "fl/ranks.h"
#include "fl/simulation.h"
#include "fl/sweep.h"

namespace ebb::fl {

/// One simulation of a sweep, as it is to begin.
struct SweepPart {
  Config config;
  std::string name;         ///< as simulation_name() has it
  std::uint64_t limit = 0;  ///< of its memory
  std::string sweep;        ///< the same of all of them, and of nothing else
  std::uint32_t part = 0;   ///< its place among them
  std::uint32_t parts = 1;
};

/// The method, and the seed where there are several.
std::string simulation_name(const Config& config, bool has_seeds);

/// A cleanup between two simulations.
struct CleanupBetween {
  std::string after;  ///< whose simulation it followed
  std::uint64_t seed = 0;
  fact::Cleanup cleanup;
};

/// What a sweep came to.
struct SweepOutcome {
  Config config;  ///< of the first method and seed
  std::vector<std::uint64_t> seeds;
  std::vector<MethodRuns> methods;
  std::vector<CleanupBetween> cleanups;
  std::optional<std::uint64_t> start_rss;  ///< with data and trainer, before the first simulation
  std::string folder;                      ///< "" where none was written
  bool stopped = false;
};

/// Follows the simulations of a sweep, one after the other.
class SweepWatcher {
 public:
  virtual ~SweepWatcher() = default;
  /// Who observes the next one, until it has ended or failed.
  virtual Observer& next(const SweepPart& part) = 0;
  virtual void failed(const base::Error& error) = 0;
  /// It came to its end or was stopped, and what it left was cleaned up.
  virtual void ended(const fact::Cleanup& cleanup, bool stopped) = 0;
};

/// Every method with every seed, one after the other in one process.
class SweepRun {
 public:
  /// load_resources(), or what stands in for it.
  using Load = std::function<base::Result<SimulationResources>(
      const Config& config, const Execution& how, keep::Cleaner&, std::unique_ptr<Ranks>)>;

  /// `execution`: without a folder. `ranks` outlives it.
  SweepRun(Sweep sweep, Execution execution, Ranks& ranks, Load load);

  /// Loads what the first simulation needs.
  base::Status open();
  /// Requires: opened.
  const SimulationResources& resources() const { return *resources_; }

  /// Simulates, until all is done or the watcher's observer or a signal stops it. `folder`: as
  /// SweepFolder::open() has it; none: no files. Requires: opened.
  base::Result<SweepOutcome> run(const std::optional<std::string>& folder, const std::string& name,
                                 SweepWatcher& watcher);

 private:
  base::Status load(const Config& config);
  base::Status simulate_every(SweepWatcher& watcher);
  base::Status simulate_one(std::size_t method, std::size_t seed, SweepWatcher& watcher);
  SweepPart part_of(std::size_t method, std::size_t seed) const;
  void keep_result(SimulationResult result);
  fact::Cleanup clean_up();

  Sweep sweep_;
  const Execution execution_;
  Ranks& ranks_;
  const Load load_;
  base::ReclaimerRegistry reclaimers_;
  keep::Cleaner cleaner_;
  std::optional<SimulationResources> resources_;
  std::optional<base::ReclaimerRegistry::Id> card_cache_;
  SweepFolder folder_;
  std::string identity_;  ///< SweepPart::sweep
  SweepOutcome outcome_;
};

}  // namespace ebb::fl
