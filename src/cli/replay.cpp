// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/page_file.h"
#include "cli/snapshot_file.h"
#include "cli/verb.h"
#include "show/replay_view.h"
#include "show/snapshot_page.h"

namespace ebb::cli {
namespace {

struct ReplayOptions {
  std::string path;
  std::vector<std::string> confs;
  SnapshotOptions shared;
};

base::Options options_of(ReplayOptions& o) {
  return with_snapshot_options(
      {
          {"snapshot", &o.path, "A file of torch.cuda.memory._dump_snapshot()", "snapshot", nullptr,
           true},
          {"conf", &o.confs,
           "A string for PYTORCH_CUDA_ALLOC_CONF; may be repeated, \"\" is the default"},
      },
      o.shared);
}

/// The recorded settings, the default and expandable segments, where nothing was asked for.
std::vector<std::string> confs_for(const ReplayOptions& options, const Job& job) {
  if (!options.confs.empty()) return options.confs;
  std::vector<std::string> confs = {job.workload.recording.conf};
  for (const char* usual : {"", "expandable_segments:True"}) {
    if (std::find(confs.begin(), confs.end(), usual) == confs.end()) confs.emplace_back(usual);
  }
  return confs;
}

int run_replay(const ReplayOptions& options) {
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return complain(circumstances.error());
  auto jobs = read_jobs(options.path, options.shared, *circumstances);
  if (!jobs) return complain(jobs.error());
  std::vector<std::vector<replay::Row>> rows;
  std::vector<page::Document> pages;
  for (const Job& job : *jobs) {
    auto found = replay::forecast_all(job, confs_for(options, job), *circumstances);
    if (!found) return complain(found.error());
    rows.push_back(std::move(*found));
    if (options.shared.html.empty()) continue;
    const replay::Row& first = rows.back().front();
    pages.push_back(show::page_of_replay(
        job, rows.back(), replay::moment_of(job.workload, first, first.outcome.peak_operation)));
  }
  if (const int status = write_pages(pages, options.shared.html); status != kDone) return status;
  if (options.shared.json) answer_json(replay::replay_json(*jobs, rows));
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  for (std::size_t i = 0; i < jobs->size() && !options.shared.json; ++i) {
    print_notes((*jobs)[i]);
    answer(show::replay_text((*jobs)[i], rows[i], style));
  }
  return kDone;
}

}  // namespace

void add_replay(Verb program) {
  program.add(
      {"replay", "A recorded job's requests under other settings, on another card",
       "Examples:\n"
       "  ebb replay snapshot.pickle\n"
       "  ebb replay snapshot.pickle --conf \"\" --conf expandable_segments:True --cap 24GiB\n"
       "  ebb replay snapshot.pickle --torch-version 2.13 --json"},
      run_replay);
}

}  // namespace ebb::cli
