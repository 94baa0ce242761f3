// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/bytes.h"
#include "cli/snapshot_file.h"
#include "cli/snapshot_page.h"
#include "cli/verb.h"
#include "replay/tuner.h"
#include "term/progress.h"
#include "term/style.h"

namespace ebb::cli {
namespace {

using base::bytes_text;

struct TuneOptions {
  std::vector<std::string> paths;
  std::string objective = "memory";
  SnapshotOptions shared;
};

double percent_above(std::uint64_t value, std::uint64_t bound) {
  return bound == 0 ? 0 : 100 * (static_cast<double>(value) / static_cast<double>(bound) - 1);
}

void print_job(const Job& job, const replay::TuneResult& result, std::size_t i) {
  const replay::Outcome& best = result.best[i].outcome;
  std::printf("\n%s\n\n%s\n", job.name.c_str(),
              table_of(result.rows[i], result.recorded[i]).c_str());
  std::printf("lower bound      %s live at once: the best is %.1f %% above it\n",
              bytes_text(result.lower_bound[i]).c_str(),
              percent_above(best.peak_reserved, result.lower_bound[i]));
  std::printf("offline packing  %s, with all requests known in advance\n",
              bytes_text(result.packing[i]).c_str());
}

std::string gain_text(const replay::TuneResult& result) {
  std::int64_t saved = 0;
  bool fails = false;
  bool failed = false;
  for (std::size_t i = 0; i < result.best.size(); ++i) {
    fails |= result.best[i].outcome.oom.has_value();
    failed |= result.recorded[i].outcome.oom.has_value();
    saved += static_cast<std::int64_t>(result.recorded[i].outcome.peak_reserved) -
             static_cast<std::int64_t>(result.best[i].outcome.peak_reserved);
  }
  if (fails) return "no settings serve every request under this limit; these hold least";
  if (failed) return "serves every request, where the recorded settings run out of memory";
  return "saves " + bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(saved, 0))) +
         " against the recorded settings";
}

void print_answer(const replay::TuneResult& result) {
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  const std::string conf = replay::conf_of(result.knobs);
  const std::string line =
      conf.empty() ? "unset " + result.variable : "export " + result.variable + "=" + conf;
  std::printf("%s\n", style.paint(line, term::Colour::bold).c_str());
  std::printf("%s; %llu settings replayed%s\n", gain_text(result).c_str(),
              static_cast<unsigned long long>(result.tried),
              result.proven ? ", nothing can hold less" : "");
}

int run_tune(const TuneOptions& options) {
  replay::TuneOptions tuning;
  const auto objective = replay::parse_objective(options.objective);
  if (!objective) return report(objective.error());
  tuning.objective = *objective;
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return report(circumstances.error());
  tuning.circumstances = *circumstances;
  std::vector<Job> jobs;
  for (const std::string& path : options.paths) {
    auto read = read_jobs(path, options.shared, *circumstances);
    if (!read) return report(read.error());
    for (Job& job : *read) {
      jobs.push_back(std::move(job));
    }
  }
  std::vector<const replay::Workload*> workloads;
  for (const Job& job : jobs) {
    workloads.push_back(&job.workload);
  }
  std::optional<term::Progress> progress(std::in_place, "tuning");
  tuning.progress = [&](double share) { progress->show(share, ""); };
  const auto result = replay::tune(workloads, tuning);
  progress.reset();
  if (!result) return report(result.error());
  std::vector<page::Document> pages;
  for (std::size_t i = 0; i < jobs.size() && !options.shared.html.empty(); ++i) {
    pages.push_back(page_of_tuning(jobs[i], *result, i));
  }
  if (const int status = write_pages(pages, options.shared.html); status != kDone) return status;
  if (options.shared.json) {
    std::puts(replay::tune_json(jobs, *result).text().c_str());
    return kDone;
  }
  for (const Job& job : jobs) {
    print_notes(job);
  }
  print_answer(*result);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    print_job(jobs[i], *result, i);
  }
  return kDone;
}

}  // namespace

void add_tune(CLI::App& program, Action& action) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* verb =
      program.add_subcommand("tune", "The allocator settings that suit a recorded job best");
  verb->add_option("snapshot", options->paths,
                   "Files of torch.cuda.memory._dump_snapshot(); one string is found for all")
      ->required();
  verb->add_option("--objective", options->objective, "memory, calls or balanced");
  add_snapshot_options(*verb, options->shared);
  verb->footer(
      "Examples:\n"
      "  ebb tune snapshot.pickle\n"
      "  ebb tune rank0.pickle rank1.pickle --cap 80GB\n"
      "  ebb tune -- python3 train.py      runs a command under each allocator (docs/tune.md)\n"
      "  eval \"$(ebb tune snapshot.pickle | head -1)\"");
  verb->callback([options, &action] { action = [options] { return run_tune(*options); }; });
}

}  // namespace ebb::cli
