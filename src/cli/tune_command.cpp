// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/duration.h"
#include "base/text.h"
#include "cli/verb.h"
#include "show/trials_view.h"
#include "term/progress.h"

namespace ebb::cli {
namespace {

struct TuneWords {
  std::vector<std::string> command;
  unsigned repeat = 1;
  std::string interval = "100ms";
  bool json = false;
};

int tune_job(const TuneWords& words) {
  const auto interval = base::parse_duration(words.interval);
  if (!interval) return complain(interval.error());
  if (words.repeat < 1 || words.repeat > 1000)
    return complain(
        base::error(base::Code::bad_input, "--repeat %u: expected 1 to 1000", words.repeat));
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
        std::fprintf(stderr, "ebb: the command %s (%s)\n", how.c_str(), settings[i].name.c_str());
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
    std::puts(show::trials_json(trials).text(true).c_str());
  } else {
    std::fputs(show::trials_text(trials, term::Style::of_stream(STDOUT_FILENO)).c_str(), stdout);
  }
  return kDone;
}

}  // namespace

void add_tune_command(CLI::App& program, Action& action) {
  auto words = std::make_shared<TuneWords>();
  CLI::App* verb = program.add_subcommand(
      kTuneCommand, "A command under each installed allocator and setting worth trying");
  verb->group("");  // written as `ebb tune -- COMMAND`
  verb->add_option("command", words->command, "The command and its arguments, after --")
      ->required();
  verb->add_option("--repeat", words->repeat, "Runs of each setting; the median counts (1)");
  verb->add_option("--interval", words->interval, "Time between samples (100ms)");
  verb->add_flag("--json", words->json, "One JSON object (docs/tune.md)");
  verb->callback([words, &action] { action = [words] { return tune_job(*words); }; });
}

}  // namespace ebb::cli
