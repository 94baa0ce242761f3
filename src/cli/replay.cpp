// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/bytes.h"
#include "cli/snapshot_file.h"
#include "cli/snapshot_page.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

struct ReplayOptions {
  std::string path;
  std::vector<std::string> confs;
  SnapshotOptions shared;
};

/// The recorded settings, the default and expandable segments, where nothing was asked for.
std::vector<std::string> confs_for(const ReplayOptions& options, const Job& job) {
  if (!options.confs.empty()) return options.confs;
  std::vector<std::string> confs = {job.workload.recording.conf};
  for (const char* usual : {"", "expandable_segments:True"}) {
    if (std::find(confs.begin(), confs.end(), usual) == confs.end()) confs.emplace_back(usual);
  }
  return confs;
}

void print_rows(const Job& job, const std::vector<replay::Row>& rows) {
  const replay::Recording& recording = job.workload.recording;
  std::printf("%s: %llu requests, PyTorch 2.%d, %s reserved at the peak\n\n%s", job.name.c_str(),
              static_cast<unsigned long long>(job.workload.requests), recording.newest_minor,
              base::bytes_text(recording.peak_reserved).c_str(),
              table_of(rows, rows.front()).c_str());
  for (const replay::Row& row : rows) {
    if (row.is_recorded) {
      std::printf("\n* recorded so; check compares with the recording\n");
      break;
    }
  }
}

int run_replay(const ReplayOptions& options) {
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return report(circumstances.error());
  auto jobs = read_jobs(options.path, options.shared, *circumstances);
  if (!jobs) return report(jobs.error());
  std::vector<std::vector<replay::Row>> rows;
  std::vector<page::Document> pages;
  for (const Job& job : *jobs) {
    auto found = replay::forecast_all(job, confs_for(options, job), *circumstances);
    if (!found) return report(found.error());
    rows.push_back(std::move(*found));
    if (!options.shared.html.empty()) pages.push_back(page_of_replay(job, rows.back()));
  }
  if (const int status = write_pages(pages, options.shared.html); status != kDone) return status;
  if (options.shared.json) std::puts(replay::replay_json(*jobs, rows).text().c_str());
  for (std::size_t i = 0; i < jobs->size() && !options.shared.json; ++i) {
    print_notes((*jobs)[i]);
    print_rows((*jobs)[i], rows[i]);
  }
  return kDone;
}

}  // namespace

void add_replay(CLI::App& program, Action& action) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* verb = program.add_subcommand(
      "replay", "A recorded job's requests under other settings, on another card");
  verb->add_option("snapshot", options->path, "A file of torch.cuda.memory._dump_snapshot()")
      ->required();
  verb->add_option("--conf", options->confs,
                   "A string for PYTORCH_CUDA_ALLOC_CONF; may be repeated, \"\" is the default")
      ->allow_extra_args(false);
  add_snapshot_options(*verb, options->shared);
  verb->footer(
      "Examples:\n"
      "  ebb replay snapshot.pickle\n"
      "  ebb replay snapshot.pickle --conf \"\" --conf expandable_segments:True --cap 24GiB\n"
      "  ebb replay snapshot.pickle --torch-version 2.13 --json");
  verb->callback([options, &action] { action = [options] { return run_replay(*options); }; });
}

}  // namespace ebb::cli
