// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/duration.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/verb.h"
#include "show/trials_view.h"
#include "term/progress.h"

namespace ebb::cli {
namespace {

struct TuneWords {
  std::vector<std::string> command;
  std::uint32_t repeat = 1;
  std::string interval = "100ms";
  bool json = false;
};

constexpr base::Range kRepeats = {"1 to 1000", 1, true, 1000};

base::Options options_of(TuneWords& o) {
  return {
      {"command", &o.command, "The command and its arguments, after --", "command", nullptr, true},
      {"repeat", &o.repeat, "Runs of each setting; the median counts", {}, &kRepeats},
      {"interval", &o.interval, "Time between samples"},
      {"json", &o.json, "One JSON object (docs/tune.md)"},
  };
}

int give_up(const run::Trial& trial) {
  const run::Ending& ending = trial.ending;
  if (ending.signal == SIGINT || ending.signal == SIGTERM) run::end_as(ending);
  const std::string how = ending.signal
                              ? base::format_text("was killed by signal %d", *ending.signal)
                              : base::format_text("ended with status %d", *ending.exit_code);
  say("the command " + how + " (" + trial.setting.name + ")");
  return kFailed;
}

int tune_job(const TuneWords& words) {
  const auto interval = base::parse_duration(words.interval);
  if (!interval) return complain(interval.error());
  std::optional<term::Progress> progress(std::in_place, "trying");
  auto tried = run::try_settings(
      words.command, run::settings_worth_trying(), words.repeat, *interval,
      [&](double share, const run::Setting& setting) { progress->show(share, setting.name); });
  progress.reset();
  if (!tried) return complain(tried.error());
  if (tried->failed) return give_up(*tried->failed);
  const std::size_t best = run::best_of(tried->medians);
  const show::Trials trials{words.command, std::move(tried->medians), best};
  if (words.json) {
    answer_json(show::trials_json(trials), true);
  } else {
    answer(show::trials_text(trials, term::Style::of_stream(STDOUT_FILENO)));
  }
  return kDone;
}

}  // namespace

void add_tune_command(Verb program) {
  constexpr bool kIsListed = false;  // written as `ebb tune -- COMMAND`
  program.add({kTuneCommand, "A command under each installed allocator and setting worth trying",
               "", kIsListed},
              tune_job);
}

}  // namespace ebb::cli
