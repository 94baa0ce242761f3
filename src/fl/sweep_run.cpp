// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep_run.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "fl/card_cache.h"
#include "fl/stop_signals.h"
#include "sense/memory_info.h"
#include "sense/process.h"

namespace ebb::fl {
namespace {

/// One that is resumed goes on under the name it had. Without a folder none is.
std::string identity_of(const std::string& folder) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::error_code failure;
  const auto path = std::filesystem::canonical(folder, failure);
  if (!folder.empty() && !failure) return std::string(host) + ":" + path.string();
  return base::format_text("%s:%d:%.6f", host, ::getpid(), base::unix_seconds());
}

std::uint64_t limit_of(const Execution& execution) {
  if (execution.memory) return *execution.memory;
  const auto memory = sense::memory_info();
  return memory ? memory->limit : 0;
}

}  // namespace

std::string simulation_name(const Config& config, bool has_seeds) {
  if (!has_seeds) return config.method;
  return config.method +
         base::format_text(", seed %llu", static_cast<unsigned long long>(config.seed));
}

SweepRun::SweepRun(Sweep sweep, Execution execution, Ranks& ranks, Load load)
    : sweep_(std::move(sweep)),
      execution_(std::move(execution)),
      ranks_(ranks),
      load_(std::move(load)),
      cleaner_(heap::host_allocator(), reclaimers_, sense::rss_now) {
  outcome_.config = sweep_.config;
  outcome_.seeds = sweep_.seeds;
}

base::Status SweepRun::open() {
  return load(sweep_.config);
}

base::Status SweepRun::load(const Config& config) {
  if (card_cache_) reclaimers_.remove(*std::exchange(card_cache_, {}));
  resources_.reset();
  // Resources that cannot be loaded must not take MPI down, before the reason is told.
  auto loaded = load_(config, execution_, cleaner_, lent(ranks_));
  if (!loaded) return loaded.error();
  resources_.emplace(*std::move(loaded));
  if (resources_->card)
    card_cache_ = reclaimers_.add("the card's cache", base::Stage::device_cache,
                                  std::make_shared<CardCache>(*resources_->card));
  return {};
}

base::Result<SweepOutcome> SweepRun::run(const std::optional<std::string>& folder,
                                         const std::string& name, SweepWatcher& watcher) {
  // Chosen once: every method, every seed and whatever is resumed computes with the same one.
  sweep_.config.backend = resources_->trainer->backend();
  outcome_.start_rss = sense::rss_now();
  if (folder) {
    auto opened = SweepFolder::open(sweep_, *folder, name, ranks_);
    if (!opened) return opened.error();
    folder_ = *std::move(opened);
  }
  outcome_.folder = folder_.path();
  identity_ = identity_of(folder_.path());
  stop_on_signals(ranks_.is_first());
  const auto done = simulate_every(watcher);
  if (done) return std::move(outcome_);
  if (ranks_.is_first()) folder_.drop_if_empty();
  return done.error();
}

base::Status SweepRun::simulate_every(SweepWatcher& watcher) {
  for (std::size_t method = 0; method < sweep_.methods.size(); ++method) {
    for (std::size_t seed = 0; seed < sweep_.seeds.size(); ++seed) {
      const bool is_first = method == 0 && seed == 0;
      if (!is_first && sweep_.seeds.size() > 1 &&
          data_source(sweep_.config.dataset) == DataSource::seed) {
        if (const auto loaded = load(sweep_.config_of(method, seed)); !loaded) return loaded;
      }
      if (const auto done = simulate_one(method, seed, watcher); !done) return done;
      if (outcome_.stopped) return {};
    }
  }
  return {};
}

SweepPart SweepRun::part_of(std::size_t method, std::size_t seed) const {
  SweepPart part;
  part.config = sweep_.config_of(method, seed);
  part.name = simulation_name(part.config, sweep_.seeds.size() > 1);
  part.limit = limit_of(execution_);
  part.sweep = identity_;
  part.part = static_cast<std::uint32_t>(method * sweep_.seeds.size() + seed);
  part.parts = static_cast<std::uint32_t>(sweep_.methods.size() * sweep_.seeds.size());
  return part;
}

base::Status SweepRun::simulate_one(std::size_t method, std::size_t seed, SweepWatcher& watcher) {
  const SweepPart part = part_of(method, seed);
  Execution execution = execution_;
  execution.folder = folder_.of(sweep_, method, seed);
  execution.resume = execution_.resume && can_be_resumed(execution.folder);
  execution.begins_again = execution_.resume && !execution.resume;
  auto result = simulate(part.config, execution, *resources_, watcher.next(part));
  if (!result) {
    watcher.failed(result.error());
    return result.error();
  }
  const bool stopped = result->stopped;
  outcome_.stopped = outcome_.stopped || stopped;
  // A part of a simulation cannot be ranked with whole ones.
  if (!stopped || sweep_.is_single()) keep_result(*std::move(result));
  const fact::Cleanup cleanup = clean_up();
  outcome_.cleanups.push_back({part.config.method, part.config.seed, cleanup});
  watcher.ended(cleanup, stopped);
  return {};
}

void SweepRun::keep_result(SimulationResult result) {
  const std::string& method = result.config.method;
  if (outcome_.methods.empty() || outcome_.methods.back().method != method)
    outcome_.methods.push_back({method, {}});
  outcome_.methods.back().repeats.push_back(std::move(result));
}

fact::Cleanup SweepRun::clean_up() {
  resources_->trainer->release(0);
  keep::CleanupRequest request;
  request.cuda_empty_cache = true;
  request.deep = true;
  return cleaner_.clean(request).measured;
}

}  // namespace ebb::fl
