// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot_file.h"

#include <unistd.h>

#include <cstdio>

#include "base/bytes.h"
#include "base/plain_text.h"
#include "term/progress.h"

namespace ebb::cli {

base::Options with_snapshot_options(base::Options first, SnapshotOptions& options) {
  const base::Options shared = replay::options_of(options);
  first.insert(first.end(), shared.begin(), shared.end());
  first.push_back({"json", &options.json, "One JSON object"});
  first.push_back({"html", &options.html, "Also writes one self-contained page"});
  return first;
}

namespace {

trace::ReadOptions showing(term::Progress& progress) {
  trace::ReadOptions options;
  options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
    progress.show(total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total),
                  base::bytes_text(done));
  };
  return options;
}

}  // namespace

base::Result<trace::Snapshot> read_snapshot_file(const std::string& path) {
  term::Progress progress("reading");
  return trace::read_snapshot(path, showing(progress));
}

base::Result<std::vector<Job>> read_jobs(const std::string& path, const SnapshotOptions& options,
                                         const replay::Circumstances& circumstances,
                                         replay::History history) {
  term::Progress progress("reading");
  return replay::read_jobs(path, options.device, circumstances.limit, showing(progress), history);
}

void print_notes(const Job& job) {
  const term::Style style = term::Style::of_stream(STDERR_FILENO);
  for (const std::string& note : job.workload.notes) {
    std::fprintf(stderr, "%s\n",
                 style.paint("note: " + base::plain_line(note), term::Colour::dim).c_str());
  }
}

}  // namespace ebb::cli
