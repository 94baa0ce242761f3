// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot_file.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/bytes.h"
#include "term/progress.h"

namespace ebb::cli {

void add_snapshot_options(CLI::App& verb, SnapshotOptions& options) {
  verb.add_option("--cap", options.cap,
                  "Bytes that the process may take on the device, e.g. 24GiB; else as recorded");
  verb.add_option("--torch-version", options.version, "PyTorch 2.1 to 2.15; else as recorded");
  verb.add_option("--driver-model", options.model,
                  "Where new segments go: recorded, down, up or chunks");
  verb.add_option("--device", options.device, "One device; else all that have a history");
  verb.add_flag("--json", options.json, "One JSON object");
  verb.add_option("--html", options.html, "Also writes one self-contained page");
}

base::Result<replay::Circumstances> circumstances_of(const SnapshotOptions& options) {
  replay::Circumstances circumstances;
  if (!options.cap.empty()) {
    auto cap = base::parse_bytes(options.cap);
    if (!cap) {
      return base::error(base::Code::bad_input, "--cap '%s': %s", options.cap.c_str(),
                         cap.error().message.c_str());
    }
    circumstances.limit = *cap;
  }
  if (!options.version.empty()) {
    auto profile = cache::parse_version(options.version);
    if (!profile) return profile.error();
    circumstances.profile = *profile;
  }
  auto placement = replay::parse_placement(options.model);
  if (!placement) return placement.error();
  circumstances.placement = *placement;
  return circumstances;
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
                                         const replay::Circumstances& circumstances) {
  term::Progress progress("reading");
  return replay::read_jobs(path, options.device, circumstances.limit, showing(progress));
}

void print_notes(const Job& job) {
  const term::Style style = term::Style::of_stream(STDERR_FILENO);
  for (const std::string& note : job.workload.notes) {
    std::fprintf(stderr, "%s\n", style.paint("note: " + note, term::Colour::dim).c_str());
  }
}

}  // namespace ebb::cli
