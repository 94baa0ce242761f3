// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/page_file.h"
#include "cli/snapshot_file.h"
#include "cli/verb.h"
#include "show/replay_view.h"
#include "show/snapshot_page.h"
#include "term/progress.h"

namespace ebb::cli {
namespace {

struct TuneOptions {
  std::vector<std::string> paths;
  std::string objective = "memory";
  std::vector<std::string> without;
  bool quick = false;
  SnapshotOptions shared;
};

base::Options options_of(TuneOptions& o) {
  return with_snapshot_options(
      {
          {"snapshot", &o.paths,
           "Files of torch.cuda.memory._dump_snapshot(); one string is found for all", "snapshot",
           nullptr, true},
          {"objective", &o.objective,
           "What is best: least memory, least time in calls of the driver (calls), or both "
           "(balanced)"},
          {"without", &o.without, "Settings that cannot be used, such as expandable_segments"},
          {"quick", &o.quick, "Fit what was recorded, without a look at how the job goes on"},
      },
      o.shared);
}

int run_tune(const TuneOptions& options) {
  replay::TuneOptions tuning;
  const auto objective = replay::parse_objective(options.objective);
  if (!objective) return complain(objective.error());
  tuning.objective = *objective;
  tuning.quick = options.quick;
  tuning.without = options.without;
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return complain(circumstances.error());
  tuning.circumstances = *circumstances;
  std::vector<Job> jobs;
  for (const std::string& path : options.paths) {
    auto read = read_jobs(path, options.shared, *circumstances);
    if (!read) return complain(read.error());
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
  if (!result) return complain(result.error());
  std::vector<page::Document> pages;
  for (std::size_t i = 0; i < jobs.size() && !options.shared.html.empty(); ++i) {
    const auto at_peak = [&](const replay::Row& row) {
      return replay::moment_of(jobs[i].workload, row, row.outcome.peak_operation);
    };
    pages.push_back(show::page_of_tuning(jobs[i], *result, i, at_peak(result->jobs[i].recorded),
                                         at_peak(result->jobs[i].best)));
  }
  if (const int status = write_pages(pages, options.shared.html); status != kDone) return status;
  if (options.shared.json) {
    answer_json(replay::tune_json(jobs, *result));
    return kDone;
  }
  for (const Job& job : jobs) {
    print_notes(job);
  }
  answer(show::tuning_text(jobs, *result, term::Style::of_stream(STDOUT_FILENO)));
  return kDone;
}

}  // namespace

void add_tune(Verb program) {
  program.add(
      {"tune", "The allocator settings that suit a recorded job best",
       "Examples:\n"
       "  ebb tune snapshot.pickle\n"
       "  ebb tune rank0.pickle rank1.pickle --cap 80GB\n"
       "  ebb tune snapshot.pickle --without expandable_segments\n"
       "  ebb tune -- python3 train.py      runs a command under each allocator (docs/tune.md)\n"
       "  eval \"$(ebb tune snapshot.pickle | head -1)\""},
      run_tune);
}

}  // namespace ebb::cli
