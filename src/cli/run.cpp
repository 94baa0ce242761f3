// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "cli/answer.h"
#include "cli/verb.h"
#include "keep/settings.h"
#include "run/job.h"
#include "run/last_resort.h"
#include "run/left_tables.h"
#include "run/words.h"
#include "serve/job_metrics.h"
#include "show/run_view.h"

namespace ebb::cli {
namespace {

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

int run_job(const run::Words& words) {
  std::vector<std::string> notes;
  auto options = run::options_from(words, notes);
  for (const std::string& note : notes)
    say_now(note);
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
    say_now(std::string("cannot run ") + command[0] + ": " + std::strerror(why));
    return why == ENOENT ? 127 : 126;
  }
  auto metrics = serve::JobMetrics::listen(words.metrics, say_now, !words.quiet && !words.dry_run);
  if (!metrics) return complain(metrics.error());
  if (!words.dry_run) run::fold_left_tables(run::kFoldBeforeJob);
  std::optional<wire::Listener> listener;
  if (auto opened = wire::Listener::open()) {
    listener.emplace(*std::move(opened));
  } else {
    say_now("the job is only watched: " + opened.error().message);
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
  if (listener)
    options->record_path =
        metrics->choose_record(options->record_path, folder_of(listener->path()));
  const auto last_line = [&](const run::Summary& summary, std::int64_t run_id) {
    return show::summary_line(summary, metrics->is_record_passing() ? 0 : run_id, words.db);
  };
  const auto started = [&](std::int64_t run_id) { metrics->start(run_id); };
  try {
    const auto ended =
        run::supervise(*options, *preparation, std::move(listener), last_line, started);
    if (!ended) return run::become_command(options->command.size(), ended.error().message.c_str());
    if (!ended->trouble.empty()) say_now(ended->trouble);
    if (!ended->ending.signal) return ended->ending.exit_code.value_or(kFailed);
    std::fflush(nullptr);
    run::end_as(ended->ending);
  } catch (const std::bad_alloc&) {  // nothing was started yet, here and below
    return run::become_command(options->command.size(), "out of memory");
  } catch (const std::exception& failure) {
    return run::become_command(options->command.size(), failure.what());
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
