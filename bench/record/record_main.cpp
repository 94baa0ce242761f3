// SPDX-License-Identifier: Apache-2.0
// What recording a run costs: samples written per second, CPU time per second of a run, and the
// size of the file after a day.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/duration.h"
#include "record/run_file.h"
#include "term/table.h"

namespace {

using namespace ebb;

constexpr int kProcesses = 10;
constexpr int kDay = 86'400;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

record::Sample sample_of(int process, double seconds) {
  const double wave = std::sin(seconds * 0.1 + process) + std::sin(seconds * 7.7);
  record::Sample sample;
  sample.process = {100 + process, 1000};
  sample.seconds = seconds;
  sample.memory.rss = static_cast<std::uint64_t>((2048 + 300 * wave) * 1048576);
  sample.memory.anon = *sample.memory.rss - 40 * base::kMiB;
  sample.memory.file = 30 * base::kMiB;
  sample.memory.shmem = 10 * base::kMiB;
  sample.memory.swap = 0;
  if (static_cast<int>(seconds) % 60 == 0)
    sample.memory.pss = *sample.memory.rss - 100 * base::kMiB;
  sample.memory.live = *sample.memory.rss * 3 / 4;
  sample.memory.retained = *sample.memory.rss / 10;
  sample.minor_faults = static_cast<std::uint64_t>(seconds * 1000);
  sample.cpu_seconds = seconds * 0.9;
  return sample;
}

void fill(record::Batch& batch, double seconds) {
  for (int process = 0; process < kProcesses; ++process)
    batch.samples.push_back(sample_of(process, seconds));
  record::PlaceSample place;
  place.seconds = seconds;
  place.used = 24 * base::kGiB;
  place.limit = 64 * base::kGiB;
  place.percent = 37.5;
  place.pressure_some = 0;
  batch.places.push_back(place);
}

record::RunFile begin(const std::string& path) {
  record::Run run;
  run.name = "bench";
  run.started = 1.7e9;
  auto file = record::RunFile::begin(path, run);
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().message.c_str());
    std::exit(1);
  }
  return *std::move(file);
}

void write(record::RunFile& file, const record::Batch& batch) {
  if (const auto done = file.write(batch); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    std::exit(1);
  }
}

std::uint64_t bytes_of(const std::string& path) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  return failure ? 0 : size;
}

/// One transaction per second of the run, as a supervisor does it.
void measure_pace(const std::string& path, term::Table& table) {
  constexpr int kSeconds = 3600;
  record::RunFile file = begin(path);
  const double cpu = cpu_seconds();
  for (int second = 0; second < kSeconds; ++second) {
    record::Batch batch;
    fill(batch, second);
    write(file, batch);
  }
  const double spent = cpu_seconds() - cpu;
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.3f %%", 100 * spent / kSeconds);
  table.add_row({"CPU of one core, 10 processes, 1 s", percent});
  table.add_row({"size after an hour", base::bytes_text(bytes_of(path))});
}

/// A minute per transaction: what the file can take, and what becomes of it.
void measure_day(const std::string& path, term::Table& table) {
  record::RunFile file = begin(path);
  const std::int64_t start = base::system_clock().now_ns();
  double longest = 0;
  for (int second = 0; second < kDay;) {
    record::Batch batch;
    for (int i = 0; i < 60; ++i)
      fill(batch, second++);
    const std::int64_t before = base::system_clock().now_ns();
    write(file, batch);
    longest = std::max(longest, base::seconds_between(before, base::system_clock().now_ns()));
  }
  const double wall = base::seconds_between(start, base::system_clock().now_ns());
  char pace[32];
  std::snprintf(pace, sizeof pace, "%.0f", kDay * kProcesses / wall);
  table.add_row({"samples per second, thinning included", pace});
  table.add_row({"longest transaction (600 samples)", base::duration_text(longest)});
  table.add_row({"size after a day", base::bytes_text(bytes_of(path))});
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "ebb-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  term::Table table({{"record of a run", term::Align::left}, {"measured"}});
  measure_pace(folder + "/hour.db", table);
  measure_day(folder + "/day.db", table);
  std::fputs(table.text().c_str(), stdout);
  std::filesystem::remove_all(folder);
  return 0;
}
