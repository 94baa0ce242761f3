// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/watcher.h"

#include <unistd.h>

#include "cli/answer.h"
#include "cli/simulate/outlets.h"
#include "fl/stop_signals.h"
#include "show/simulate/outcome_view.h"

namespace ebb::cli {

void SimulateWatcher::planned(const fl::MemoryPlan& plan) {
  if (about_.prints_plan)
    plan_text_ = show::memory_plan_text(plan, term::Style::of_stream(STDOUT_FILENO));
}

void SimulateWatcher::round_done(const fl::RoundReport& round) {
  progress_->show(round);
  record_->add(round);
  if (about_.streams) stream("round", fl::to_json(round));
}

void SimulateWatcher::warned(const std::string& line) {
  progress_->say(line);
  record_->warn(line);
  if (about_.streams) stream("warning", base::Json::object({{"message", line}}));
}

void SimulateWatcher::stream(const char* event, const base::Json& members) const {
  const fl::Config& config = about_.part.config;
  base::Json line =
      base::Json::object({{"event", event}, {"method", config.method}, {"seed", config.seed}});
  for (const auto& [key, value] : *members.as_object())
    line.set(key, value);
  answer_json(line);
  if (!is_heard()) fl::ask_to_stop();
}

void SimulateWatcher::marked(const std::string& line) {
  if (!about_.quiet) progress_->say(line);
  record_->mark(line);
}

bool SimulateWatcher::should_stop() {
  return fl::is_asked_to_stop();
}

void SimulateWatcher::begins(const fl::SimulationResult& so_far) {
  if (!plan_text_.empty()) answer(plan_text_ + "\n");
  const fl::SweepPart& part = about_.part;
  progress_ = std::make_unique<show::SimulateProgress>(part.name, part.config.rounds, about_.quiet);
  record_ = record_simulation(about_.record_path, part, so_far);
}

}  // namespace ebb::cli
