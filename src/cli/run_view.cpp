// SPDX-License-Identifier: Apache-2.0
#include "cli/run_view.h"

#include <cstdio>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/text.h"

namespace ebb::cli {
namespace {

std::string cleanups_text(const run::Summary& summary) {
  if (summary.cleanups == 0) return "no cleanup was needed";
  return base::format_text(
      "%llu cleanup%s returned %s in %s", static_cast<unsigned long long>(summary.cleanups),
      summary.cleanups == 1 ? "" : "s", base::bytes_text(summary.returned).c_str(),
      base::duration_text(summary.cleanup_seconds).c_str());
}

const char* what_happens_at_critical(const run::Options& options) {
  return options.on_critical == run::OnCritical::stop
             ? "clean up; where that does not help, stop the job"
             : "clean up";
}

base::Json to_json(const run::Options& options, const run::Preparation& preparation) {
  base::Json variables = base::Json::array();
  for (const run::JobVariable& variable : preparation.variables) {
    variables.push(base::Json::object(
        {{"name", variable.name}, {"value", variable.value}, {"why", variable.why}}));
  }
  base::Json notes = base::Json::array();
  for (const std::string& note : preparation.notes)
    notes.push(note);
  base::Json command = base::Json::array();
  for (const std::string& word : options.command)
    command.push(word);
  return base::Json::object(
      {{"command", command},
       {"path", preparation.target.path},
       {"program", preparation.target.program},
       {"agent", preparation.agent},
       {"variables", variables},
       {"warn_percent", options.thresholds.warn},
       {"critical_percent", options.thresholds.critical},
       {"on_critical", options.on_critical == run::OnCritical::stop ? "stop" : "clean"},
       {"interval_seconds", options.interval_seconds},
       {"record", options.record_path},
       {"notes", notes}});
}

}  // namespace

std::string summary_line(const run::Summary& summary, std::int64_t run_id) {
  std::string line =
      run_id > 0 ? base::format_text("run %lld: ", static_cast<long long>(run_id)) : std::string();
  line += base::duration_text(summary.seconds) + ", peak " + base::bytes_text(summary.peak_rss) +
          ", " + cleanups_text(summary);
  if (summary.how == "out_of_memory") line += "; the kernel killed it for want of memory";
  if (summary.how == "stopped") line += "; stopped, since memory stayed critical";
  if (summary.left_running > 0) {
    line += base::format_text("; %zu of its processes go%s on, no longer managed",
                              summary.left_running, summary.left_running == 1 ? "es" : "");
  }
  if (run_id > 0) line += base::format_text(" (ebb report %lld)", static_cast<long long>(run_id));
  return line;
}

int exit_as_its_command(const run::Summary& summary) {
  if (summary.ending.signal) {
    std::fflush(nullptr);
    run::end_as(summary.ending);
  }
  return summary.ending.exit_code.value_or(1);
}

void print_dry_run(const run::Options& options, const run::Preparation& preparation, bool json) {
  if (json) {
    std::puts(to_json(options, preparation).text(true).c_str());
    return;
  }
  std::string command;
  for (const std::string& word : options.command)
    command += (command.empty() ? "" : " ") + word;
  std::printf("command   %s\n", command.c_str());
  std::printf("program   %s\n", preparation.target.program.empty()
                                    ? "not found"
                                    : preparation.target.program.c_str());
  for (const run::JobVariable& variable : preparation.variables) {
    std::printf("set       %s=%s\n          # %s\n", variable.name.c_str(), variable.value.c_str(),
                variable.why.c_str());
  }
  for (const std::string& note : preparation.notes)
    std::printf("note      %s\n", note.c_str());
  std::printf("sample    every %s, every process of the job\n",
              base::duration_text(options.interval_seconds).c_str());
  std::printf("warn      at %.0f %% of the limit: one line on stderr\n", options.thresholds.warn);
  std::printf("critical  at %.0f %%: %s\n", options.thresholds.critical,
              what_happens_at_critical(options));
  std::printf("record    %s\n", options.record_path.empty() ? "none" : options.record_path.c_str());
}

}  // namespace ebb::cli
