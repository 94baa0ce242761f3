// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/session.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "base/file.h"
#include "cli/answer.h"
#include "cli/simulate/outlets.h"
#include "cli/simulate/watcher.h"
#include "cli/verb.h"
#include "fl/planning.h"
#include "show/simulate/outcome_view.h"

namespace ebb::cli {
namespace {

/// One call of `ebb simulate` or `ebb compare`: what is printed and written of its simulations.
class Session final : public fl::SweepWatcher {
 public:
  Session(const SimulateOrder& order, std::unique_ptr<fl::Ranks> ranks)
      : order_(order),
        ranks_(std::move(ranks)),
        is_first_(ranks_->is_first()),
        run_(order_, order_.execution, *ranks_, fl::load_resources) {
    outcome_.compare = order_.compare;
    outcome_.db = order_.db;
  }

  int run();

 private:
  fl::Observer& next(const fl::SweepPart& part) override;
  void failed(const base::Error& error) override;
  void ended(const fact::Cleanup& cleanup, bool stopped) override;

  base::Status show_outcome();
  int dry_run();

  const SimulateOrder order_;
  const std::unique_ptr<fl::Ranks> ranks_;
  const bool is_first_;
  fl::SweepRun run_;
  std::optional<SimulateWatcher> watcher_;
  show::SimulateOutcome outcome_;
};

fl::Observer& Session::next(const fl::SweepPart& part) {
  SimulateWatcher::About about;
  about.part = part;
  about.record_path = order_.record_path;
  about.prints_plan = !order_.json && !order_.quiet && part.part == 0;
  about.quiet = order_.quiet;
  about.streams = order_.streams;
  return watcher_.emplace(std::move(about));
}

void Session::failed(const base::Error& error) {
  watcher_->end_progress();
  if (archive::SimulationRecord* record = watcher_->record()) record->end(status_of(error.code));
}

void Session::ended(const fact::Cleanup& cleanup, bool stopped) {
  watcher_->end_progress();
  archive::SimulationRecord* record = watcher_->record();
  if (record == nullptr) return;
  record->add(cleanup);
  if (record->run_id() != 0) outcome_.runs.push_back(record->run_id());
  record->end(stopped ? kFailed : kDone);
}

base::Status Session::show_outcome() {
  const base::Json json = show::outcome_json(outcome_);
  if (!outcome_.folder.empty()) {
    const auto written = base::write_file_atomically(outcome_.folder + "/" + fl::kResultFile,
                                                     json.text(true) + "\n");
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
  const auto plan = fl::plan_memory(order_.config, execution, run_.resources());
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
  if (const auto opened = run_.open(); !opened) return complain(opened.error());
  if (is_first_ && !order_.record_trouble.empty()) say(order_.record_trouble);
  if (order_.dry_run) return dry_run();
  // Whoever followed the rounds may end before them: the last one is still to be kept.
  if (order_.streams) std::signal(SIGPIPE, SIG_IGN);
  std::optional<std::string> folder;
  if (order_.writes_folder) folder = order_.folder;
  auto outcome = run_.run(folder, order_.compare ? "compare" : order_.methods.front(), *this);
  watcher_.reset();
  if (!outcome) return complain(outcome.error());
  static_cast<fl::SweepOutcome&>(outcome_) = *std::move(outcome);
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
