// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot_file.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/bytes.h"
#include "base/text.h"
#include "term/progress.h"
#include "term/table.h"

namespace ebb::cli {

using base::bytes_text;

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
                  bytes_text(done));
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

std::string conf_text(const std::string& conf) {
  return conf.empty() ? "(default)" : conf;
}

std::string peak_text(const replay::Row& row) {
  const std::string low = bytes_text(row.peak.low);
  const std::string high = bytes_text(row.peak.high);
  return low == high ? low : low + " to " + high;
}

namespace {

std::string oom_text(const replay::Row& row) {
  if (!row.oom_at) return "no";
  const auto at = static_cast<unsigned long long>(row.oom_at->low);
  if (row.oom_at->is_exact()) return base::format_text("at request %llu", at);
  if (row.oom_at->high == cache::kUnlimited) {
    return base::format_text("perhaps, from request %llu", at);
  }
  return base::format_text("at request %llu to %llu", at,
                           static_cast<unsigned long long>(row.oom_at->high));
}

std::string seconds_text(double seconds) {
  return seconds < 1 ? base::format_text("%.1f ms", seconds * 1e3)
                     : base::format_text("%.2f s", seconds);
}

}  // namespace

std::string table_of(const std::vector<replay::Row>& rows, const replay::Row& baseline) {
  using term::Align;
  term::Table table({{"setting", Align::left},
                     {"peak reserved"},
                     {"peak allocated"},
                     {"ratio"},
                     {"saved"},
                     {"driver calls"},
                     {"their time"},
                     {"retries"},
                     {"out of memory", Align::left},
                     {"check", Align::left}});
  for (const replay::Row& row : rows) {
    const replay::Outcome& outcome = row.outcome;
    const double ratio = outcome.peak_allocated == 0
                             ? 0
                             : static_cast<double>(outcome.peak_reserved) /
                                   static_cast<double>(outcome.peak_allocated);
    const auto saved = static_cast<std::int64_t>(baseline.outcome.peak_reserved) -
                       static_cast<std::int64_t>(outcome.peak_reserved);
    table.add_row({conf_text(row.conf) + (row.is_recorded ? " *" : ""), peak_text(row),
                   bytes_text(outcome.peak_allocated), base::format_text("%.2f", ratio),
                   saved == 0 ? "-" : base::signed_bytes_text(saved),
                   std::to_string(outcome.calls.total()), seconds_text(outcome.calls.seconds),
                   std::to_string(outcome.retries), oom_text(row), row.check});
  }
  return table.text(term::Style::of_stream(STDOUT_FILENO));
}

void print_notes(const Job& job) {
  const term::Style style = term::Style::of_stream(STDERR_FILENO);
  for (const std::string& note : job.workload.notes) {
    std::fprintf(stderr, "%s\n", style.paint("note: " + note, term::Colour::dim).c_str());
  }
}

}  // namespace ebb::cli
