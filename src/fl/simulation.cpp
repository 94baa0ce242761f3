// SPDX-License-Identifier: Apache-2.0
#include "fl/simulation.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "fl/engine.h"
#include "fl/planning.h"
#include "fl/run_folder.h"
#include "fl/stopwatch.h"
#include "keep/budget.h"
#include "keep/rss_marker.h"
#include "sense/process.h"

namespace ebb::fl {
namespace {

class Run {
 public:
  Run(const Config& config, const Execution& execution, SimulationResources& resources,
      Observer& observer)
      : execution_(execution),
        resources_(resources),
        observer_(observer),
        folder_(execution.folder),
        card_(resources.card.get(), {execution.gpu_warn_percent, execution.gpu_critical_percent},
              execution.headroom.value_or(0)) {
    result_.config = config;
    result_.config.backend = resources.trainer->backend();
    result_.kernels = resources.trainer->kernels();
  }

  base::Result<SimulationResult> to_the_end() {
    result_.setup_seconds = resources_.setup_seconds;
    const std::int64_t start = base::system_clock().now_ns();
    if (auto ready = prepare(); !ready) return ready.error();
    result_.setup_seconds += base::seconds_between(start, base::system_clock().now_ns());
    if (engine_->rounds_done() < result_.config.rounds && resources_.ranks->is_first()) {
      observer_.begins(result_);
      if (!resources_.warning.empty()) observer_.warned(std::exchange(resources_.warning, {}));
      if (is_unchecked_)
        observer_.warned(execution_.folder +
                         ": written by an earlier Ebb: its rounds.jsonl is not checked");
    }
    ended_ns_ = base::system_clock().now_ns();
    while (engine_->rounds_done() < result_.config.rounds) {
      auto stops = is_asked_to_stop();
      if (!stops) return stops.error();
      if (*stops) {
        result_.stopped = true;
        if (auto saved = save(); !saved) return saved.error();
        break;
      }
      if (auto done = next_round(); !done) return done.error();
    }
    result_.model_sha256 = engine_->model_sha256();
    if (resources_.card != nullptr) result_.card = engine_->groups();
    if (result_.config.privacy.on()) result_.clip = engine_->clip();
    resources_.trainer->release(0);
    return std::move(result_);
  }

 private:
  bool writes() const { return !execution_.folder.empty() && resources_.ranks->is_first(); }

  base::Status prepare() {
    auto plan = plan_memory(result_.config, execution_, resources_);
    if (!plan) return plan.error();
    result_.plan = std::move(*plan);
    if (resources_.ranks->is_first()) observer_.planned(result_.plan);
    // A card trains its clients in one network, for one thread.
    const std::uint32_t threads = resources_.card_available > 0 ? 1 : result_.plan.parallel_clients;
    auto engine = Engine::create(result_.config, execution_, resources_, threads);
    if (!engine) return engine.error();
    engine_ = std::move(*engine);
    if (writes() && !execution_.resume) {
      if (auto begun = folder_.begin(to_json(result_.config), execution_.begins_again); !begun)
        return begun;
    }
    // Other ranks may be on machines that do not have the folder.
    if (auto opened = engine_->open(writes() ? execution_.folder : ""); !opened) return opened;
    if (execution_.resume) {
      if (auto resumed = resume(); !resumed) return resumed;
    } else {
      auto untrained = engine_->evaluate();
      if (!untrained) return untrained.error();
      result_.untrained = *untrained;
    }
    if (resources_.card != nullptr) result_.plan.parallel_clients = engine_->groups().clients;
    return {};
  }

  base::Status resume() {
    std::string bytes;
    if (resources_.ranks->is_first()) {
      if (auto taken = folder_.take(); !taken) return taken;
      auto read = base::read_file(folder_.checkpoint_path(), kMostCheckpointBytes);
      if (!read) return read.error();
      bytes = std::move(*read);
    }
    if (auto shared = broadcast_text(*resources_.ranks, bytes); !shared) return shared;
    const auto checkpoint = unpack_checkpoint(bytes, folder_.checkpoint_path());
    if (!checkpoint) return checkpoint.error();
    if (auto restored = engine_->restore(*checkpoint); !restored) return restored;
    result_.resumed_at = engine_->rounds_done();
    if (!resources_.ranks->is_first()) return {};
    const auto seal = rounds_seal_from(checkpoint->header.find("lines"));
    is_unchecked_ = !seal;
    const auto rounds = folder_.keep_rounds(engine_->rounds_done(), seal);
    if (!rounds) return rounds.error();
    for (const base::Json& line : *rounds) {
      auto report = round_report_from(line);
      if (!report) return report.error();
      result_.rounds.push_back(std::move(*report));
    }
    return {};
  }

  /// The first rank decides for all.
  base::Result<bool> is_asked_to_stop() {
    std::byte stops{resources_.ranks->is_first() && observer_.should_stop()};
    if (auto told = resources_.ranks->broadcast(std::span(&stops, 1)); !told) return told.error();
    return stops != std::byte{0};
  }

  base::Status next_round() {
    returned_ = 0;
    const NvflareSettings& nvflare = execution_.nvflare;
    const bool cycles = result_.config.workflow == Workflow::cyclic;
    auto report = engine_->run_round({[&] { clean(nvflare.of_trainers()); },
                                      [&] {
                                        mark("aggregate", engine_->rounds_done());
                                        clean(nvflare.of_aggregators());
                                      }});
    if (!report) return report.error();
    // A round of a cycle ends where others aggregate; it is counted by now.
    if (cycles) clean(nvflare.of_aggregators(), 0);
    tidy(*report);
    mark("end", report->round);
    settle(*report);
    const Stopwatch watch(writing_seconds_);
    const bool due = engine_->rounds_done() % execution_.checkpoint_every == 0 ||
                     engine_->rounds_done() == result_.config.rounds;
    if (writes()) {
      if (auto added = folder_.add_round(to_json(*report)); !added) return added;
    }
    if (due) {
      if (auto saved = save(); !saved) return saved;
    }
    for (const auto& lines : {engine_->patience().lines(), engine_->gate().lines(), card_.lines(),
                              resources_.trainer->lines()}) {
      for (const std::string& line : lines)
        if (resources_.ranks->is_first()) observer_.warned(line);
    }
    if (resources_.ranks->is_first()) observer_.round_done(*report);
    result_.peak_rss = std::max(result_.peak_rss, report->memory.peak);
    result_.rounds.push_back(std::move(*report));
    return {};
  }

  /// Where the time since the end of the round before has gone.
  void settle(RoundReport& report) {
    const std::int64_t now = base::system_clock().now_ns();
    report.wall_seconds = base::seconds_between(std::exchange(ended_ns_, now), now);
    report.cleanup_seconds = std::exchange(cleanup_seconds_, 0);
    report.writing_seconds = std::exchange(writing_seconds_, 0);
    const double known = report.selection_seconds + report.training_seconds + report.sums_seconds +
                         report.evaluation_seconds + report.cleanup_seconds +
                         report.writing_seconds;
    report.other_seconds = std::max(report.wall_seconds - known, 0.0);
  }

  void mark(const char* tag, std::uint32_t round) {
    if (execution_.markers && resources_.ranks->is_first()) {
      observer_.marked(keep::rss_marker(keep::MarkerSource::server, "simulator", round, tag,
                                        resources_.cleaner->rss().value_or(0)));
    }
  }

  /// A light cleanup where NVFlare has one, after every so many rounds, of which `more` is not
  /// counted yet.
  void clean(std::optional<int> every, std::uint32_t more = 1) {
    if (!every || *every == 0) return;
    if ((engine_->rounds_done() + more) % static_cast<std::uint32_t>(*every) != 0) return;
    const Stopwatch watch(cleanup_seconds_);
    const bool device = execution_.nvflare.cuda_empty_cache.value_or(false);
    returned_ += resources_.cleaner->clean({.cuda_empty_cache = device}).measured.returned;
  }

  /// Whether a light cleanup that is due is done. Rounds on a card are short, and leave little on
  /// the host.
  bool pays() {
    return resources_.card_available == 0 ||
           budget_.allows(base::system_clock().now_ns(), resources_.cleaner->rss().value_or(0));
  }

  /// Light and heavy cleanups in their rounds, and what memory came to.
  void tidy(RoundReport& report) {
    const Stopwatch watch(cleanup_seconds_);
    const auto is_due = [&](int every) {
      return every > 0 && engine_->rounds_done() % static_cast<std::uint32_t>(every) == 0;
    };
    if (engine_->gate().has_room()) {
      engine_->workers().grow();
    } else {
      resources_.trainer->release(engine_->workers().now());
    }
    RoundMemory& memory = report.memory;
    memory.returned = engine_->gate().returned() + returned_;
    const bool heavy = is_due(execution_.heavy_gc_rounds);
    const bool light = !execution_.nvflare.any_rounds() && is_due(execution_.gc_rounds);
    if (heavy || (light && pays())) {
      const bool device = execution_.nvflare.cuda_empty_cache.value_or(heavy);
      const fact::Cleanup cleaned =
          resources_.cleaner->clean({.cuda_empty_cache = device, .deep = heavy}).measured;
      memory.returned += cleaned.returned;
      memory.now = cleaned.after;
      memory.devices = cleaned.devices;
      budget_.spent(cleaned.after.rss.value_or(0), cleaned.returned, cleaned.seconds);
    }
    memory.parallel_clients =
        resources_.card != nullptr ? engine_->groups().clients : engine_->workers().now();
    if (resources_.card != nullptr) memory.evaluated_together = engine_->groups().pictures;
    if (const auto process = sense::read_process()) {
      memory.now.rss = process->rss;
      memory.peak = process->hwm.value_or(process->rss);
    }
    report.card = card_.round_done(report.round, engine_->gate().percent());
    if (report.card && report.card->returned > 0) {
      const std::uint64_t left = report.card->memory.reserved;
      fact::add_up(memory.devices, base::DeviceChange::between(resources_.card->index(),
                                                               left + report.card->returned, left));
    }
  }

  base::Status save() {
    if (execution_.folder.empty()) return {};
    const auto bytes = engine_->save(to_json(folder_.seal()));
    if (!bytes) return bytes.error();
    if (!writes()) return {};
    return base::write_file_atomically(folder_.checkpoint_path(), *bytes);
  }

  const Execution execution_;
  SimulationResources& resources_;
  Observer& observer_;
  RunFolder folder_;
  CardKeeper card_;
  keep::CleanupBudget budget_{base::system_clock().now_ns()};  ///< where a card trains
  SimulationResult result_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t returned_ = 0;  ///< by cleanups within the round
  // Since the end of the round before, at ended_ns_.
  std::int64_t ended_ns_ = 0;
  double cleanup_seconds_ = 0;
  double writing_seconds_ = 0;
  bool is_unchecked_ = false;  ///< resumed from a checkpoint that says nothing of the rounds
};

}  // namespace

base::Result<SimulationResult> simulate(const Config& config, const Execution& execution,
                                        SimulationResources& resources, Observer& observer) {
  if (auto sound = check(config); !sound) return sound.error();
  if (auto sound = check(execution.nvflare, config.workflow); !sound) return sound.error();
  return Run(config, execution, resources, observer).to_the_end();
}

}  // namespace ebb::fl
