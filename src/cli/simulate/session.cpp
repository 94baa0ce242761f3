// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/simulate/outlets.h"
#include "cli/simulate/session.h"
#include "cli/simulate/watcher.h"
#include "cli/verb.h"
#include "fl/card_cache.h"
#include "fl/planning.h"
#include "fl/stop_signals.h"
#include "sense/memory_info.h"
#include "sense/process.h"
#include "show/simulate/outcome_view.h"

namespace ebb::cli {
namespace {

/// One that is resumed goes on under the name it had. Without a folder none is.
std::string name_of_sweep(const std::string& folder) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::error_code failure;
  const auto path = std::filesystem::canonical(folder, failure);
  if (!folder.empty() && !failure) return std::string(host) + ":" + path.string();
  return base::format_text("%s:%d:%.6f", host, ::getpid(), base::unix_seconds());
}

/// Every method with every seed, one after the other in one process.
class Session {
 public:
  Session(const SimulateOrder& order, std::unique_ptr<fl::Ranks> ranks)
      : order_(order),
        ranks_(std::move(ranks)),
        is_first_(ranks_->is_first()),
        cleaner_(heap::host_allocator(), reclaimers_, sense::rss_now) {
    outcome_.compare = order_.compare;
    outcome_.config = order_.config;
    outcome_.seeds = order_.seeds;
    outcome_.db = order_.db;
  }

  int run();

 private:
  base::Status open(const fl::Config& config);
  base::Status simulate_one(std::size_t method, std::size_t seed);
  base::Status simulate_every();
  void clean_up(const fl::Config& config, SimulateRecord* record);
  base::Status show_outcome();
  int dry_run();

  SimulateOrder order_;
  const std::unique_ptr<fl::Ranks> ranks_;
  const bool is_first_;
  base::ReclaimerRegistry reclaimers_;
  keep::Cleaner cleaner_;
  std::optional<fl::SimulationResources> resources_;
  std::optional<base::ReclaimerRegistry::Id> card_cache_;
  fl::SweepFolder folder_;
  std::string sweep_;  ///< what its simulations have in common in the record
  show::SimulateOutcome outcome_;
};

base::Status Session::open(const fl::Config& config) {
  if (card_cache_) reclaimers_.remove(*std::exchange(card_cache_, {}));
  resources_.reset();
  // Resources that cannot be loaded must not take MPI down, before the reason is told.
  auto opened = fl::load_resources(config, order_.execution, cleaner_, fl::lent(*ranks_));
  if (!opened) return opened.error();
  resources_.emplace(*std::move(opened));
  if (resources_->card)
    card_cache_ = reclaimers_.add("the card's cache", base::Stage::device_cache,
                                  std::make_shared<fl::CardCache>(*resources_->card));
  return {};
}

base::Status Session::simulate_one(std::size_t method, std::size_t seed) {
  const fl::Config config = order_.config_of(method, seed);
  fl::Execution execution = order_.execution;
  execution.folder = folder_.of(order_, method, seed);
  execution.resume = order_.execution.resume && fl::can_be_resumed(execution.folder);
  execution.begins_again = order_.execution.resume && !execution.resume;
  SimulateWatcher::About about;
  about.name = config.method;
  if (order_.seeds.size() > 1)
    about.name += base::format_text(", seed %llu", static_cast<unsigned long long>(config.seed));
  about.rounds = config.rounds;
  about.record_path = order_.record_path;
  const auto memory = sense::memory_info();
  about.limit = execution.memory.value_or(memory ? memory->limit : 0);
  about.prints_plan = !order_.json && !order_.quiet && method == 0 && seed == 0;
  about.quiet = order_.quiet;
  about.streams = order_.streams;
  about.method = config.method;
  about.seed = config.seed;
  about.place.sweep = sweep_;
  about.place.part = static_cast<std::uint32_t>(method * order_.seeds.size() + seed);
  about.place.parts = static_cast<std::uint32_t>(order_.methods.size() * order_.seeds.size());

  SimulateWatcher watcher(std::move(about));
  auto result = fl::simulate(config, execution, *resources_, watcher);
  watcher.end_progress();
  SimulateRecord* record = watcher.record();
  if (!result) {
    if (record != nullptr) record->end(status_of(result.error().code));
    return result.error();
  }
  const bool stopped = result->stopped;
  outcome_.stopped = outcome_.stopped || stopped;
  // A part of a simulation cannot be ranked with whole ones.
  if (!stopped || order_.is_single()) {
    if (outcome_.methods.empty() || outcome_.methods.back().method != config.method)
      outcome_.methods.push_back({config.method, {}});
    outcome_.methods.back().repeats.push_back(*std::move(result));
  }
  clean_up(config, record);
  if (record != nullptr) {
    if (record->run_id() != 0) outcome_.runs.push_back(record->run_id());
    record->end(stopped ? kFailed : kDone);
  }
  return {};
}

void Session::clean_up(const fl::Config& config, SimulateRecord* record) {
  resources_->trainer->release(0);
  keep::CleanupRequest request;
  request.cuda_empty_cache = true;
  request.deep = true;
  const fact::Cleanup cleanup = cleaner_.clean(request).measured;
  if (record != nullptr) record->add(cleanup);
  outcome_.cleanups.push_back({config.method, config.seed, cleanup});
}

base::Status Session::simulate_every() {
  for (std::size_t method = 0; method < order_.methods.size(); ++method) {
    for (std::size_t seed = 0; seed < order_.seeds.size(); ++seed) {
      // Synthetic data come out of the seed.
      const bool first = method == 0 && seed == 0;
      if (!first && order_.seeds.size() > 1 && order_.config.dataset == "synthetic") {
        if (const auto opened = open(order_.config_of(method, seed)); !opened) return opened;
      }
      if (const auto done = simulate_one(method, seed); !done) return done;
      if (outcome_.stopped) return {};
    }
  }
  return {};
}

base::Status Session::show_outcome() {
  const base::Json json = show::outcome_json(outcome_);
  if (!folder_.path().empty()) {
    const auto written =
        base::write_file_atomically(folder_.path() + "/" + fl::kResultFile, json.text(true) + "\n");
    if (!written) return written;
  }
  if (!order_.html.empty() && !outcome_.methods.empty()) {
    if (const auto written = write_page(outcome_, order_.html); !written) return written;
    outcome_.page = order_.html;
  }
  if (order_.json) {
    answer_json(json);
  } else if (!outcome_.methods.empty()) {
    answer(show::outcome_text(outcome_, term::Style::of_stream(STDOUT_FILENO)));
  }
  for (const std::string& line : show::where_lines(outcome_, order_.quiet))
    say(line);
  return {};
}

int Session::dry_run() {
  fl::Execution execution = order_.execution;
  // What a checkpoint takes is part of the plan.
  if (order_.writes_folder) execution.folder = order_.folder.empty() ? "." : order_.folder;
  const auto plan = fl::plan_memory(order_.config, execution, *resources_);
  if (!plan) return complain(plan.error());
  ranks_->complete();
  if (!is_first_) return kDone;
  const base::Json config = order_.is_single() ? fl::to_json(order_.config) : fl::to_json(order_);
  if (order_.json) {
    const base::Json json = base::Json::object({{"plan", fl::to_json(*plan)}, {"config", config}});
    answer_json(json);
  } else {
    answer(show::memory_plan_text(*plan, term::Style::of_stream(STDOUT_FILENO)) + "\n");
    answer_json(config, true);
  }
  return kDone;
}

int Session::run() {
  if (const auto opened = open(order_.config); !opened) return complain(opened.error());
  if (is_first_ && !order_.record_trouble.empty()) say(order_.record_trouble);
  if (order_.dry_run) return dry_run();
  // Chosen once: every method, every seed and whatever is resumed computes with the same one.
  order_.config.backend = resources_->trainer->backend();
  outcome_.start_rss = sense::rss_now();
  if (order_.writes_folder) {
    auto folder = fl::SweepFolder::open(
        order_, order_.folder, order_.compare ? "compare" : order_.methods.front(), *ranks_);
    if (!folder) return complain(folder.error());
    folder_ = *std::move(folder);
  }
  outcome_.folder = folder_.path();
  sweep_ = name_of_sweep(folder_.path());
  fl::stop_on_signals(is_first_);
  // Whoever followed the rounds may end before them: the last one is still to be kept.
  if (order_.streams) std::signal(SIGPIPE, SIG_IGN);
  const auto done = simulate_every();
  if (!done) {
    if (is_first_) folder_.drop_if_empty();
    return complain(done.error());
  }
  if (is_first_) {
    if (const auto shown = show_outcome(); !shown) return complain(shown.error());
  }
  ranks_->complete();
  return outcome_.stopped ? kFailed : kDone;
}

}  // namespace

int simulate_all(const SimulateOrder& order, std::unique_ptr<fl::Ranks> ranks) {
  return Session(order, std::move(ranks)).run();
}

}  // namespace ebb::cli
