// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/verb.h"
#include "run/trial.h"
#include "term/progress.h"
#include "term/style.h"
#include "term/table.h"

namespace ebb::cli {
namespace {

struct TuneWords {
  std::vector<std::string> command;
  unsigned repeat = 1;
  std::string interval = "100ms";
  bool json = false;
};

std::string change_text(std::uint64_t before, std::uint64_t after) {
  if (before == 0) return "";
  return base::format_text("%+.0f %%",
                           100 * (static_cast<double>(after) / static_cast<double>(before) - 1));
}

std::string line_to_keep(const run::Trial& best, const std::vector<std::string>& command) {
  std::string line = best.setting.manage ? "ebb run" : "";
  for (const std::string& word : best.setting.arguments)
    line += " " + word;
  if (best.setting.manage) line += " --";
  for (const std::string& word : command)
    line += (line.empty() ? "" : " ") + word;
  return line;
}

base::Json to_json(const run::Trial& trial) {
  base::Json arguments = base::Json::array();
  for (const std::string& word : trial.setting.arguments)
    arguments.push(word);
  return base::Json::object({{"setting", trial.setting.name},
                             {"managed", trial.setting.manage},
                             {"arguments", arguments},
                             {"peak_rss_bytes", trial.peak_rss},
                             {"steady_rss_bytes", trial.steady_rss},
                             {"cpu_seconds", trial.cpu_seconds},
                             {"wall_seconds", trial.wall_seconds}});
}

void print(const std::vector<run::Trial>& trials, std::size_t best, const TuneWords& words) {
  if (words.json) {
    base::Json rows = base::Json::array();
    for (const run::Trial& trial : trials)
      rows.push(to_json(trial));
    std::puts(base::Json::object({{"rows", rows},
                                  {"best", trials[best].setting.name},
                                  {"run", line_to_keep(trials[best], words.command)}})
                  .text(true)
                  .c_str());
    return;
  }
  term::Table table({{"setting", term::Align::left},
                     {"steady rss"},
                     {"change"},
                     {"peak rss"},
                     {"CPU time"},
                     {"wall time"}});
  const run::Trial& first = trials.front();
  for (const run::Trial& trial : trials) {
    table.add_row({trial.setting.name, base::bytes_text(trial.steady_rss),
                   &trial == &first ? "" : change_text(first.steady_rss, trial.steady_rss),
                   base::bytes_text(trial.peak_rss), base::duration_text(trial.cpu_seconds),
                   base::duration_text(trial.wall_seconds)});
  }
  std::printf("%s\n", table.text().c_str());
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  std::printf("%s\n",
              style.paint(line_to_keep(trials[best], words.command), term::Colour::bold).c_str());
  if (best == 0) std::printf("nothing holds clearly less without taking a tenth more time\n");
}

int tune_job(const TuneWords& words) {
  const auto interval = base::parse_duration(words.interval);
  if (!interval) return report(interval.error());
  if (words.repeat < 1 || words.repeat > 1000)
    return report(
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
      if (!trial) return report(trial.error());
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
  print(medians, run::best_of(medians), words);
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
