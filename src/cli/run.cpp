// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/duration.h"
#include "base/text.h"
#include "cli/run_store.h"
#include "cli/verb.h"
#include "keep/job_environment.h"
#include "keep/settings.h"
#include "record/store.h"
#include "run/supervisor.h"
#include "show/run_view.h"

namespace ebb::cli {
namespace {

struct RunWords {
  std::vector<std::string> command;
  std::string role;
  std::string allocator;
  double warn = 85;
  double critical = 90;
  std::string on_critical = "clean";
  std::string interval = "1s";
  std::string grace = "10s";
  std::string name;
  std::string db;
  bool no_record = false;
  bool observe = false;
  bool nvflare = false;
  bool wait = false;
  bool quiet = false;
  bool dry_run = false;
  bool json = false;
};

base::Options options_of(RunWords& o) {
  return {
      {"command", &o.command, "The command and its arguments, after --", "command", nullptr, true},
      {"role", &o.role, "server, client, trainer, aggregator or simulator"},
      {.key = "allocator",
       .place = &o.allocator,
       .help = "keep (the job's own), glibc, jemalloc, tcmalloc or mimalloc",
       .shown = "keep"},
      {"warn", &o.warn, "One line on stderr at this percentage of the limit"},
      {"critical", &o.critical, "Clean up at once at this percentage"},
      {"on_critical", &o.on_critical,
       "If a cleanup does not help: clean (go on), or stop (TERM, --grace, KILL)"},
      {"grace", &o.grace, "Time between TERM and KILL"},
      {"interval", &o.interval, "Time between samples"},
      {"name", &o.name, "Name of the run (that of the command)"},
      {"db", &o.db, "File of the record (docs/record.md)"},
      {"no_record", &o.no_record, "Record nothing"},
      {"observe", &o.observe, "Only watch and record: set and preload nothing"},
      {"nvflare", &o.nvflare,
       "In NVFlare, drop each result once it is processed (docs/nvflare.md)"},
      {"wait_all", &o.wait,
       "Supervise until the last process of the job has ended, not only the command"},
      {"quiet", &o.quiet, "Print only errors on stderr"},
      {"dry_run", &o.dry_run, "Say what would be set, preloaded and done"},
      {"json", &o.json, "The dry run as one JSON object (docs/run.md)"},
  };
}

/// Code::bad_input for a name by which the run could not be found again.
base::Status check_name(const std::string& name) {
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  if (name != "last" && !is_number) return {};
  return base::error(base::Code::bad_input, "--name '%s': expected a name; %s", name.c_str(),
                     is_number ? "numbers are given by the record" : "last is the newest run");
}

base::Result<run::Options> options_from(const RunWords& words) {
  run::Options options;
  options.command = words.command;
  if (!words.role.empty()) {
    const auto role = keep::role_from(words.role);
    if (!role) return role.error();
    options.role = *role;
  }
  options.allocator = words.allocator;
  options.manage = !words.observe;
  if (words.allocator.empty()) {
    const keep::DefaultAllocator chosen = keep::default_allocator("keep");
    options.allocator = options.manage ? chosen.name : "keep";
    if (!chosen.note.empty() && options.manage && !words.quiet)
      std::fprintf(stderr, "ebb: %s; the job keeps its own\n", chosen.note.c_str());
  }
  options.thresholds = {words.warn, words.critical};
  if (const auto valid = sense::check(options.thresholds); !valid) return valid.error();
  if (words.on_critical == "stop") {
    options.on_critical = run::OnCritical::stop;
  } else if (words.on_critical != "clean") {
    return base::error(base::Code::bad_input, "--on-critical '%s': expected clean or stop",
                       words.on_critical.c_str());
  }
  const auto interval = base::parse_duration(words.interval);
  if (!interval) return interval.error();
  if (*interval < 0.01 || *interval > 3600) {
    return base::error(base::Code::bad_input, "--interval '%s': expected 10ms to 1h",
                       words.interval.c_str());
  }
  options.interval_seconds = *interval;
  const auto grace = base::parse_duration(words.grace);
  if (!grace) return grace.error();
  options.grace_seconds = *grace;
  if (const auto named = check_name(words.name); !named) return named.error();
  const std::string& first = words.command.front();
  options.name = !words.name.empty() ? words.name : first.substr(first.rfind('/') + 1);
  options.nvflare = words.nvflare;
  if (words.nvflare && words.observe) {
    return base::error(base::Code::bad_input,
                       "--nvflare and --observe: expected one of them, since one changes the job");
  }
  options.wait_for_all = words.wait;
  options.quiet = words.quiet;
  if (!words.no_record) {
    const auto path = record_path(words.db);
    if (!path) return path.error();
    options.record_path = *path;
  }
  return options;
}

record::Run run_of(const run::Options& options) {
  record::Run run = beginning_run(options.name, options.command);
  run.role = options.role ? keep::name_of(*options.role) : "";
  run.allocator = options.allocator;
  run.interval = options.interval_seconds;
  if (const auto info = sense::memory_info()) run.limit = info->limit;
  return run;
}

/// How the command ended, or what a shell would say where it could not be run.
run::Ending supervise(const run::Options& options, const run::Preparation& preparation,
                      wire::Listener listener) {
  // Blocked before there is a second thread, so that every thread has them blocked.
  run::Signals signals;
  record::Run about = run_of(options);
  run::Journal journal(options.record_path, about, options.quiet);
  for (const std::string& note : preparation.notes) {
    if (note.starts_with("no agent")) journal.say({0, "agent", note, {}});
  }
  run::Supervisor supervisor(options, preparation, std::move(listener), signals, journal);
  const auto launched = supervisor.start();
  if (!launched || !launched->trouble.empty()) {
    const std::string trouble = launched ? launched->trouble : launched.error().message;
    std::fprintf(stderr, "ebb: %s\n", trouble.c_str());
    about.ended = about.started;
    about.exit_code = launched ? launched->exit_code : kFailed;
    about.ending = fact::RunEnd::exit;
    journal.end(about);
    return {about.exit_code, {}};
  }
  const run::Summary summary = supervisor.run();
  about.ended = about.started + summary.seconds;
  about.exit_code = summary.ending.exit_code;
  about.signal = summary.ending.signal;
  about.ending = summary.how;
  about.peak_group = summary.peak_group;
  journal.end(about);
  journal.note(show::summary_line(summary, journal.run_id()));
  return summary.ending;
}

int run_job(const RunWords& words) {
  const auto options = options_from(words);
  if (!options) return complain(options.error());
  const auto disabled = keep::is_disabled();
  if (!disabled) return complain(disabled.error());
  if (*disabled) {
    std::vector<char*> command;
    for (const std::string& word : options->command)
      command.push_back(const_cast<char*>(word.c_str()));
    command.push_back(nullptr);
    ::execvp(command[0], command.data());
    const int why = errno;
    std::fprintf(stderr, "ebb: cannot run %s: %s\n", command[0], std::strerror(why));
    return why == ENOENT ? 127 : 126;
  }
  auto listener = wire::Listener::open();
  if (!listener) return complain(listener.error());
  const auto preparation = run::prepare(*options, listener->path());
  if (!preparation) return complain(preparation.error());
  if (words.dry_run) {
    const std::string text = words.json
                                 ? show::dry_run_json(*options, *preparation).text(true) + "\n"
                                 : show::dry_run_text(*options, *preparation);
    std::fputs(text.c_str(), stdout);
    return kDone;
  }
  // Everything that the supervisor had is gone by then, the folder of its socket too.
  const run::Ending ending = supervise(*options, *preparation, *std::move(listener));
  if (!ending.signal) return ending.exit_code.value_or(kFailed);
  std::fflush(nullptr);
  run::end_as(ending);
}

}  // namespace

void add_run(Verb program) {
  program.add({"run", "Runs a command with its memory managed, recorded and explained",
               "Examples:\n"
               "  ebb run -- python3 train.py --epochs 10\n"
               "  ebb run --role server --allocator jemalloc -- ./start_server.sh\n"
               "  ebb run --on-critical stop --critical 92 -- python3 simulate.py\n"
               "  ebb run --dry-run -- python3 train.py"},
              run_job);
}

}  // namespace ebb::cli
