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

int tune_job(const TuneWords& words) {
  const auto interval = base::parse_duration(words.interval);
  if (!interval) return complain(interval.error());
  const std::vector<run::Setting> settings = run::settings_worth_trying();
  std::vector<run::Trial> medians;
  std::optional<term::Progress> progress(std::in_place, "trying");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::vector<run::Trial> trials;
    for (unsigned turn = 0; turn < words.repeat; ++turn) {
      const double done = static_cast<double>(i) + static_cast<double>(turn) / words.repeat;
      progress->show(done / static_cast<double>(settings.size()), settings[i].name);
      auto trial = run::try_setting(words.command, settings[i], *interval);
      if (!trial) return complain(trial.error());
      const run::Ending& ending = trial->ending;
      if (ending.signal == SIGINT || ending.signal == SIGTERM) run::end_as(ending);
      if (ending.exit_code != 0) {
        progress.reset();
        const std::string how = ending.signal
                                    ? base::format_text("was killed by signal %d", *ending.signal)
                                    : base::format_text("ended with status %d", *ending.exit_code);
        say("the command " + how + " (" + settings[i].name + ")");
        return kFailed;
      }
      trials.push_back(*std::move(trial));
    }
    medians.push_back(run::median_of(trials));
  }
  progress.reset();
  const std::size_t best = run::best_of(medians);
  const show::Trials trials{words.command, std::move(medians), best};
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
