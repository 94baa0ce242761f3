// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <optional>

#include "base/duration.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/verb.h"
#include "run/watch_loop.h"
#include "sense/process_number.h"
#include "show/verdict.h"
#include "show/watch_view.h"
#include "show/words.h"
#include "term/screen.h"

namespace ebb::cli {
namespace {

struct WatchOptions {
  std::string pid;
  std::string interval = "1s";
  std::optional<std::string> length;
  bool json = false;
};

base::Options options_of(WatchOptions& o) {
  return {
      {"pid", &o.pid, "The number of the process", "pid", nullptr, true},
      {"interval", &o.interval, "Time between samples"},
      {"for", &o.length, "How long to watch; without it, until q, Ctrl-C or its end"},
      {"json", &o.json,
       "One JSON object per line: one for each sample, and a last one with the verdict "
       "(docs/watch.md)"},
  };
}

constexpr double kLeastInterval = 0.001;
// Faster than this nobody reads, and each drawing judges the whole series.
constexpr double kDrawEverySeconds = 0.2;

base::Result<run::WatchEnding> watch_as_json(keep::ProcessWatch& watch, const run::WatchPlan& plan,
                                             const run::LeaveSignals& signals) {
  run::LiveSites sites(watch.pid());
  const auto ending =
      run::watch_process(watch, plan, signals, [&](const keep::WatchSample& sample) {
        answer_json(show::watch_json(sample, sites.at(sample.seconds)));
        return is_heard();
      });
  if (!ending) return ending;
  answer_json(show::watched_json(watch, run::name_of(*ending)));
  return ending;
}

base::Result<run::WatchEnding> watch_as_lines(keep::ProcessWatch& watch, const run::WatchPlan& plan,
                                              const run::LeaveSignals& signals) {
  run::LiveSites sites(watch.pid());
  std::optional<double> judged;
  keep::ProcessDiagnosis diagnosis;
  return run::watch_process(watch, plan, signals, [&](const keep::WatchSample& sample) {
    if (!judged || sample.seconds - *judged >= kDrawEverySeconds) {
      diagnosis = watch.diagnose();
      judged = sample.seconds;
    }
    answer(show::watch_line(sample, sites.at(sample.seconds), diagnosis) + "\n");
    return is_heard();
  });
}

base::Result<run::WatchEnding> watch_on_screen(keep::ProcessWatch& watch, run::WatchPlan plan,
                                               const run::LeaveSignals& signals,
                                               const term::Style& style) {
  term::Screen screen(STDIN_FILENO, STDOUT_FILENO);
  plan.keys = ::isatty(STDIN_FILENO) != 0;
  run::LiveSites sites(watch.pid());
  std::optional<double> drawn;
  return run::watch_process(watch, plan, signals, [&](const keep::WatchSample& sample) {
    if (drawn && sample.seconds - *drawn < kDrawEverySeconds) return true;
    drawn = sample.seconds;
    std::vector<std::string> lines =
        show::watch_lines(watch, sample, sites.at(sample.seconds), style);
    if (plan.keys) lines.push_back(style.paint("           q leaves", term::Colour::dim));
    screen.draw(lines);
    return true;
  });
}

int run_watch(const WatchOptions& options) {
  const auto pid = sense::parse_pid(options.pid, "PID");
  if (!pid) return complain(pid.error());
  run::WatchPlan plan;
  const auto interval = base::parse_duration(options.interval);
  if (!interval) return complain(interval.error());
  if (*interval < kLeastInterval) {
    return complain(base::error(base::Code::bad_input, "--interval '%s': expected 1ms or more",
                                options.interval.c_str()));
  }
  plan.interval_seconds = *interval;
  if (options.length) {
    const auto length = base::parse_duration(*options.length);
    if (!length) return complain(length.error());
    plan.length_seconds = *length;
  }
  auto watch = keep::ProcessWatch::of(*pid);
  if (!watch) return complain(watch.error());
  // Until the last line is written: a reader of stdout that does not read must not keep it here.
  const run::LeaveSignals signals;
  answer_until(signals.descriptor());
  if (options.json) {
    const auto ending = watch_as_json(*watch, plan, signals);
    return ending ? kDone : complain(ending.error());
  }
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  const auto ending = style.redraws ? watch_on_screen(*watch, plan, signals, style)
                                    : watch_as_lines(*watch, plan, signals);
  if (!ending) return complain(ending.error());
  if (*ending == run::WatchEnding::process_ended)
    answer(base::format_text("\nprocess %d has ended\n", *pid));
  answer("\n");
  answer(show::text_of(show::diagnosis_lines(watch->diagnose(), style)));
  return kDone;
}

}  // namespace

void add_watch(Verb program) {
  program.add({"watch", "A running process, live: its memory, slope and verdict; it is not touched",
               "Examples:\n"
               "  ebb watch 4242\n"
               "  ebb watch 4242 --interval 100ms --for 1m\n"
               "  ebb watch 4242 --for 10m --json > memory.jsonl"},
              run_watch);
}

}  // namespace ebb::cli
