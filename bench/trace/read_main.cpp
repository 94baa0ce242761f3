// SPDX-License-Identifier: Apache-2.0
// How fast a large snapshot with stacks is read, plain and gzip, and in how much memory; Python's
// pickle.load on the same file beside it.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "pack/byte_source.h"
#include "support/child.h"
#include "trace/snapshot_reader.h"

namespace ebb {
namespace {

using base::Json;
using Clock = std::chrono::steady_clock;

constexpr const char* kSource = EBB_TEST_DATA "/torch-2.11/frames/fl_resnet18.default.pickle.gz";
constexpr double kMB = 1e6;

double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const auto words = base::words(line);
    if (words.size() > 1 && words[0] == "VmHWM:") {
      return 1024.0 * static_cast<double>(base::parse_unsigned(words[1]).value_or(0));
    }
  }
  return 0;
}

/// Of this process so far, in and out of the kernel: what counts where others keep the cores busy.
double processor_seconds() {
  timespec now{};
  EBB_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void print_report(Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const Json report = Json::object(
      {{"seconds", seconds}, {"processor_seconds", processor_seconds()}, {"peak", peak_memory()}});
  std::printf("%s\n", report.text().c_str());
}

/// In a process of its own: reads the file and prints what it cost as JSON.
int read_once(const std::string& path) {
  const auto start = Clock::now();
  const auto snapshot = trace::read_snapshot(path);
  if (!snapshot) {
    std::fprintf(stderr, "%s\n", snapshot.error().message.c_str());
    return 1;
  }
  print_report(start);
  return 0;
}

/// The same for unpacking alone.
int unpack_once(const std::string& path) {
  const auto source = pack::open_source(path);
  EBB_CHECK(source.has_value());
  std::string part(256 << 10, '\0');
  const auto start = Clock::now();
  while (true) {
    const auto got = (*source)->read(part.data(), part.size());
    EBB_CHECK(got.has_value());
    if (*got == 0) break;
  }
  print_report(start);
  return 0;
}

struct Row {
  std::string name;
  double seconds = 0;
  double processor_seconds = 0;
  double peak = 0;
};

Row row_of(const std::string& name, const Json& answer) {
  return {name, bench::number(answer, "seconds"), bench::number(answer, "processor_seconds"),
          bench::number(answer, "peak")};
}

/// The fastest of three.
Row measured(const std::string& name, const std::vector<std::string>& arguments) {
  Row best;
  for (int i = 0; i < 3; ++i) {
    const Row row = row_of(name, bench::measure_in_child(arguments, {}));
    if (i == 0 || row.processor_seconds < best.processor_seconds) best = row;
  }
  return best;
}

Row python(const std::string& path) {
  const std::string command =
      std::string(EBB_PYTHON " " EBB_TRACE_BENCH "/make_snapshot.py load ") + path;
  FILE* pipe = popen(command.c_str(), "r");
  EBB_CHECK(pipe != nullptr);
  char buffer[512] = {};
  const std::size_t got = fread(buffer, 1, sizeof buffer - 1, pipe);
  EBB_CHECK(pclose(pipe) == 0);
  const auto answer = base::parse_json(std::string_view(buffer, got));
  EBB_CHECK(answer.has_value());
  return row_of("Python's pickle.load", *answer);
}

int run(bool json, double bytes) {
  std::string folder = "/tmp/ebb-bench-XXXXXX";
  EBB_CHECK(mkdtemp(folder.data()) != nullptr);
  const std::string plain = folder + "/snapshot.pickle";
  const std::string packed = plain + ".gz";
  const std::string make = base::format_text("%s %s/make_snapshot.py make %s %.0f %s", EBB_PYTHON,
                                             EBB_TRACE_BENCH, kSource, bytes, plain.c_str());
  EBB_CHECK(std::system(make.c_str()) == 0);
  struct stat status {};
  EBB_CHECK(stat(plain.c_str(), &status) == 0);
  const auto size = static_cast<double>(status.st_size);

  std::vector<Row> rows = {measured("plain", {"--read", plain}),
                           measured("gzip", {"--read", packed}),
                           measured("gzip, unpacking alone", {"--unpack", packed}), python(plain)};
  unlink(plain.c_str());
  unlink(packed.c_str());
  rmdir(folder.c_str());

  if (!json) {
    std::printf("%.0f MB with Python stacks\n", size / kMB);
    std::printf("%-24s %8s %12s %22s %15s\n", "", "s", "processor s", "MB per processor s",
                "memory / file");
  }
  Json out = Json::array();
  for (const Row& row : rows) {
    if (!json) {
      std::printf("%-24s %8.2f %12.2f %22.0f %15.2f\n", row.name.c_str(), row.seconds,
                  row.processor_seconds, size / kMB / row.processor_seconds, row.peak / size);
    }
    out.push(Json::object({{"case", row.name},
                           {"seconds", row.seconds},
                           {"processor_seconds", row.processor_seconds},
                           {"mb_per_processor_s", size / kMB / row.processor_seconds},
                           {"peak_bytes", row.peak}}));
  }
  if (json) {
    const Json report =
        Json::object({{"bench", "trace/read"}, {"file_bytes", size}, {"rows", out}});
    std::printf("%s\n", report.text().c_str());
  } else {
    std::printf("%.1f times as fast as Python\n",
                rows.back().processor_seconds / rows.front().processor_seconds);
  }
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) {
  bool json = false;
  double bytes = 100e6;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--long") {
      bytes = 1e9;
    } else if (argument == "--read" && i + 1 < argc) {
      return ebb::read_once(argv[i + 1]);
    } else if (argument == "--unpack" && i + 1 < argc) {
      return ebb::unpack_once(argv[i + 1]);
    } else {
      std::fprintf(stderr, "usage: %s [--json] [--long]\n", argv[0]);
      return 2;
    }
  }
  return ebb::run(json, bytes);
}
