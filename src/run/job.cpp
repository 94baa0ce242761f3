// SPDX-License-Identifier: Apache-2.0
#include "run/job.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "base/clock.h"
#include "base/write_now.h"
#include "keep/role.h"
#include "record/place.h"
#include "run/last_resort.h"
#include "run/left_tables.h"
#include "run/plain_wait.h"

namespace ebb::run {
namespace {

record::Run run_of(const Options& options) {
  record::Run run = record::beginning_run(options.name, options.command);
  run.is_private = options.is_private;
  run.role = options.role ? keep::name_of(*options.role) : "";
  run.allocator = options.allocator;
  run.interval = options.interval_seconds;
  if (const auto info = sense::memory_info()) run.limit = info->limit;
  return run;
}

/// Supervises a command that was started, and records how it ended.
Ending supervise_to_the_end(Supervisor& supervisor, Journal& journal, record::Run& about,
                            const LastLine& last_line) {
  const Summary summary = supervisor.run();
  about.ended = about.started + summary.seconds;
  about.exit_code = summary.ending.exit_code;
  about.signal = summary.ending.signal;
  about.ending = summary.how;
  about.death = summary.death;
  about.peak_group = summary.peak_group;
  journal.end(about);
  journal.note(last_line(summary, journal.run_id()));
  return summary.ending;
}

/// Supervision cannot go on. Nothing is taken down in order, which might ask for memory that there
/// is none of.
[[noreturn]] void only_wait(const Supervisor& supervisor, const Signals& signals, const char* why) {
  char text[500];
  std::snprintf(text, sizeof text, "ebb: %.400s: the job goes on, no longer managed\n", why);
  std::string_view line = text;
  base::write_within(STDERR_FILENO, line, 0);  // nobody may be reading
  end_as(wait_plainly(supervisor.left_to_wait_for(), signals));
}

}  // namespace

base::Result<JobEnd> supervise(const Options& options, const Preparation& preparation,
                               std::optional<wire::Listener> listener, const LastLine& last_line,
                               const Started& started) {
  // Blocked before there is a second thread, so that every thread has them blocked.
  Signals signals;
  if (!signals.is_open()) return base::system_error(errno, "cannot wait for signals");
  record::Run about = run_of(options);
  Journal journal(options.record_path, about, options.quiet);
  for (const std::string& note : preparation.notes) {
    if (note.starts_with("no agent")) journal.say({0, "agent", note, {}});
    if (!note.starts_with("no sites")) continue;
    const record::Event event{0, "sites", note, {}};
    if (options.sites == Sites::asked_for)
      journal.say(event);
    else
      journal.add(event);
  }
  if (!preparation.sites.empty() && journal.run_id() != 0) {
    mark_tables(preparation.sites, options.record_path, about.started,
                base::system_clock().now_ns());
  }
  Supervisor supervisor(options, preparation, std::move(listener), signals, journal);
  give_up_last_resort();
  try {
    const auto launched = supervisor.start();
    if (!launched) {  // the record must not say that it runs, or that it was cut short
      about.ended = about.started;
      journal.add(record::Event{
          0, "agent", launched.error().message + ": the command runs without Ebb", std::nullopt});
      journal.end(about);
      return launched.error();
    }
    if (launched->trouble.empty()) {
      if (started) started(journal.run_id());
      return JobEnd{supervise_to_the_end(supervisor, journal, about, last_line), {}};
    }
    about.ended = about.started;
    about.exit_code = launched->exit_code;
    about.ending = fact::RunEnd::exit;
    journal.end(about);
    return JobEnd{{about.exit_code, {}}, launched->trouble};
  } catch (const std::bad_alloc&) {
    if (supervisor.command() == 0) throw;
    only_wait(supervisor, signals, "out of memory");
  } catch (const std::exception& failure) {
    if (supervisor.command() == 0) throw;
    only_wait(supervisor, signals, failure.what());
  }
}

}  // namespace ebb::run
