// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <new>

#include "base/duration.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/last_resort.h"
#include "cli/run_store.h"
#include "cli/verb.h"
#include "keep/job_environment.h"
#include "keep/settings.h"
#include "record/store.h"
#include "run/plain_wait.h"
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
  std::optional<double> gpu_warn;
  std::optional<double> gpu_critical;
  std::optional<std::uint64_t> headroom;
  std::string on_critical = "clean";
  std::string interval = "1s";
  std::string grace = "10s";
  std::string name;
  std::string db;
  bool no_record = false;
  bool is_private = false;
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
      {.key = "gpu_warn",
       .place = &o.gpu_warn,
       .help = "One line on stderr at this percentage of a GPU's memory",
       .shown = "90"},
      {.key = "gpu_critical",
       .place = &o.gpu_critical,
       .help = "At this percentage empty PyTorch's cache at the end of a round, where that lasts",
       .shown = "97"},
      {"headroom", base::Bytes{&o.headroom},
       "What to keep free on a GPU between rounds, e.g. 1GiB"},
      {"on_critical", &o.on_critical,
       "If a cleanup does not help: clean (go on), or stop (TERM, --grace, KILL)"},
      {"grace", &o.grace, "Time between TERM and KILL"},
      {"interval", &o.interval, "Time between samples"},
      {"name", &o.name, "Name of the run (that of the command)"},
      {"db", &o.db, "File of the record (docs/record.md)"},
      {"no_record", &o.no_record, "Record nothing"},
      {"private", &o.is_private, "Record of commands the name of the program only"},
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

base::Status take_cards(const RunWords& words, run::Options& options) {
  keep::CardBounds& bounds = options.cards;
  bounds.percent.warn = words.gpu_warn.value_or(bounds.percent.warn);
  bounds.percent.critical = words.gpu_critical.value_or(bounds.percent.critical);
  bounds.headroom = words.headroom.value_or(0);
  if (const auto valid = keep::check(bounds); !valid) return valid;
  for (const auto& [given, name] : {std::pair(words.gpu_warn.has_value(), "--gpu-warn"),
                                    std::pair(words.gpu_critical.has_value(), "--gpu-critical"),
                                    std::pair(words.headroom.has_value(), "--headroom")}) {
    if (!given) continue;
    options.card_options += options.card_options.empty() ? "" : ", ";
    options.card_options += name;
  }
  return {};
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
      say(chosen.note + "; the job keeps its own");
  }
  options.thresholds = {words.warn, words.critical};
  if (const auto valid = sense::check(options.thresholds); !valid) return valid.error();
  if (const auto taken = take_cards(words, options); !taken) return taken.error();
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
  options.is_private = words.is_private;
  options.quiet = words.quiet;
  if (!words.no_record) {
    const auto place = record_place(words.db);
    if (!place) return place.error();
    options.record_path = place->path;
    if (!place->trouble.empty()) say(place->trouble);
  }
  return options;
}

record::Run run_of(const run::Options& options) {
  record::Run run = beginning_run(options.name, options.command);
  run.is_private = options.is_private;
  run.role = options.role ? keep::name_of(*options.role) : "";
  run.allocator = options.allocator;
  run.interval = options.interval_seconds;
  if (const auto info = sense::memory_info()) run.limit = info->limit;
  return run;
}

/// Supervises a command that was started, and records how it ended.
run::Ending supervise_to_the_end(run::Supervisor& supervisor, run::Journal& journal,
                                 record::Run& about, const std::string& db) {
  const run::Summary summary = supervisor.run();
  about.ended = about.started + summary.seconds;
  about.exit_code = summary.ending.exit_code;
  about.signal = summary.ending.signal;
  about.ending = summary.how;
  about.death = summary.death;
  about.peak_group = summary.peak_group;
  journal.end(about);
  journal.note(show::summary_line(summary, journal.run_id(), db));
  return summary.ending;
}

/// Memory has run out: nothing is taken down in order, which would ask for more.
[[noreturn]] void wait_without_memory(const run::Supervisor& supervisor,
                                      const run::Signals& signals) {
  constexpr std::string_view kLine = "ebb: out of memory: the job goes on, no longer managed\n";
  if (::write(STDERR_FILENO, kLine.data(), kLine.size()) < 0) {
    // Nobody reads.
  }
  run::end_as(supervisor.ending() ? *supervisor.ending()
                                  : run::wait_plainly(supervisor.command(), signals));
}

/// How the command ended, or what a shell would say where it could not be run. `db`: the record
/// that was named. An error where no process can be started or supervised from here.
base::Result<run::Ending> supervise(const run::Options& options,
                                    const run::Preparation& preparation,
                                    std::optional<wire::Listener> listener, const std::string& db) {
  // Blocked before there is a second thread, so that every thread has them blocked.
  run::Signals signals;
  if (!signals.is_open()) return base::system_error(errno, "cannot wait for signals");
  record::Run about = run_of(options);
  run::Journal journal(options.record_path, about, options.quiet);
  for (const std::string& note : preparation.notes) {
    if (note.starts_with("no agent")) journal.say({0, "agent", note, {}});
  }
  run::Supervisor supervisor(options, preparation, std::move(listener), signals, journal);
  give_up_last_resort();
  try {
    const auto launched = supervisor.start();
    if (!launched) return launched.error();
    if (launched->trouble.empty()) return supervise_to_the_end(supervisor, journal, about, db);
    say(launched->trouble);
    about.ended = about.started;
    about.exit_code = launched->exit_code;
    about.ending = fact::RunEnd::exit;
    journal.end(about);
    return run::Ending{about.exit_code, {}};
  } catch (const std::bad_alloc&) {
    if (supervisor.command() == 0) throw;
    wait_without_memory(supervisor, signals);
  }
}

int run_job(const RunWords& words) {
  auto options = options_from(words);
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
    say(std::string("cannot run ") + command[0] + ": " + std::strerror(why));
    return why == ENOENT ? 127 : 126;
  }
  std::optional<wire::Listener> listener;
  if (auto opened = wire::Listener::open()) {
    listener.emplace(*std::move(opened));
  } else {
    say("the job is only watched: " + opened.error().message);
    options->manage = false;
  }
  const auto preparation = run::prepare(*options, listener ? listener->path() : "");
  if (!preparation) return complain(preparation.error());
  if (words.dry_run) {
    const std::string text = words.json
                                 ? show::dry_run_json(*options, *preparation).text(true) + "\n"
                                 : show::dry_run_text(*options, *preparation);
    answer(text);
    return kDone;
  }
  try {
    // Everything that the supervisor had is gone by then, the folder of its socket too.
    const auto ending = supervise(*options, *preparation, std::move(listener), words.db);
    if (!ending) return become_command(options->command.size(), ending.error().message.c_str());
    if (!ending->signal) return ending->exit_code.value_or(kFailed);
    std::fflush(nullptr);
    run::end_as(*ending);
  } catch (const std::bad_alloc&) {  // nothing was started yet
    return become_command(options->command.size(), "out of memory");
  }
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
