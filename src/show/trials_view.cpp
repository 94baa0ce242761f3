// SPDX-License-Identifier: Apache-2.0
#include "show/trials_view.h"

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "term/table.h"

namespace ebb::show {
namespace {

std::string change_text(std::uint64_t before, std::uint64_t after) {
  if (before == 0) return "";
  return base::format_text("%+.0f %%",
                           100 * (static_cast<double>(after) / static_cast<double>(before) - 1));
}

std::string line_to_keep(const Trials& trials) {
  const run::Setting& best = trials.trials[trials.best].setting;
  std::string line = best.manage ? "ebb run" : "";
  for (const std::string& word : best.arguments)
    line += " " + word;
  if (best.manage) line += " --";
  for (const std::string& word : trials.command)
    line += (line.empty() ? "" : " ") + word;
  return line;
}

base::Json trial_json(const run::Trial& trial) {
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

}  // namespace

std::string trials_text(const Trials& trials, const term::Style& style) {
  term::Table table({{"setting", term::Align::left},
                     {"steady rss"},
                     {"change"},
                     {"peak rss"},
                     {"CPU time"},
                     {"wall time"}});
  const run::Trial& first = trials.trials.front();
  for (const run::Trial& trial : trials.trials) {
    table.add_row({trial.setting.name, base::bytes_text(trial.steady_rss),
                   &trial == &first ? "" : change_text(first.steady_rss, trial.steady_rss),
                   base::bytes_text(trial.peak_rss), base::duration_text(trial.cpu_seconds),
                   base::duration_text(trial.wall_seconds)});
  }
  std::string text = table.text() + "\n" +
                     style.paint(base::plain_line(line_to_keep(trials)), term::Colour::bold) + "\n";
  if (trials.best == 0) text += "nothing holds clearly less without taking a tenth more time\n";
  return text;
}

base::Json trials_json(const Trials& trials) {
  base::Json rows = base::Json::array();
  for (const run::Trial& trial : trials.trials)
    rows.push(trial_json(trial));
  return base::Json::object({{"rows", rows},
                             {"best", trials.trials[trials.best].setting.name},
                             {"run", line_to_keep(trials)}});
}

}  // namespace ebb::show
