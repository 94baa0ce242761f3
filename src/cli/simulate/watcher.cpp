// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/watcher.h"

#include <unistd.h>

#include <csignal>

#include "cli/answer.h"
#include "show/simulate/outcome_view.h"

namespace ebb::cli {
namespace {

volatile std::sig_atomic_t stop_was_asked = 0;
volatile std::sig_atomic_t signal_was_taken = 0;
bool stopping_is_said = true;  // set before there is a handler

extern "C" void ask_to_stop(int number) {
  if (signal_was_taken != 0) {
    // Whatever the simulation is in, also a loop that it never leaves. Delivered on the way out.
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  signal_was_taken = 1;
  stop_was_asked = 1;
  if (!stopping_is_said) return;
  constexpr char kLine[] = "\nebb: stops after this round; once more stops at once\n";
  // Nobody may be reading: nothing to do about it here.
  if (::write(STDERR_FILENO, kLine, sizeof kLine - 1) < 0) return;
}

}  // namespace

void stop_on_signals(bool speaks) {
  stopping_is_said = speaks;
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

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
  base::Json line =
      base::Json::object({{"event", event}, {"method", about_.method}, {"seed", about_.seed}});
  for (const auto& [key, value] : *members.as_object())
    line.set(key, value);
  answer_json(line);
  if (!is_heard()) stop_was_asked = 1;
}

void SimulateWatcher::marked(const std::string& line) {
  if (!about_.quiet) progress_->say(line);
  record_->mark(line);
}

bool SimulateWatcher::should_stop() {
  return stop_was_asked != 0;
}

void SimulateWatcher::begins() {
  if (!plan_text_.empty()) answer(plan_text_ + "\n");
  progress_ = std::make_unique<show::SimulateProgress>(about_.name, about_.rounds, about_.quiet);
  record_ = record_simulation(about_.record_path, about_.name, about_.limit);
}

}  // namespace ebb::cli
