// SPDX-License-Identifier: Apache-2.0
// How fast a large snapshot with stacks is read, plain and gzip, and in how much memory; Python's
// pickle.load on the same file beside it.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "support/child.h"
#include "trace/byte_source.h"
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

/// In a process of its own: prints seconds, peak and events as JSON.
int read_once(const std::string& path) {
  const auto start = Clock::now();
  const auto snapshot = trace::read_snapshot(path);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!snapshot) {
    std::fprintf(stderr, "%s\n", snapshot.error().message.c_str());
    return 1;
  }
  std::size_t events = 0;
  for (const auto& trace : snapshot->traces) {
    events += trace.size();
  }
  const Json report =
      Json::object({{"seconds", seconds}, {"peak", peak_memory()}, {"events", events}});
  std::printf("%s\n", report.text().c_str());
  return 0;
}

/// The same for unpacking alone.
int unpack_once(const std::string& path) {
  const auto source = trace::open_source(path);
  EBB_CHECK(source.has_value());
  std::string part(256 << 10, '\0');
  const auto start = Clock::now();
  while (true) {
    const auto got = (*source)->read(part.data(), part.size());
    EBB_CHECK(got.has_value());
    if (*got == 0) break;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const Json report = Json::object({{"seconds", seconds}, {"peak", peak_memory()}, {"events", 0}});
  std::printf("%s\n", report.text().c_str());
  return 0;
}

struct Row {
  std::string name;
  double seconds = 0;
  double peak = 0;
};

/// The fastest of three.
Row measured(const std::string& name, const std::vector<std::string>& arguments) {
  Row row;
  row.name = name;
  for (int i = 0; i < 3; ++i) {
    const Json answer = bench::measure_in_child(arguments, {});
    const double seconds = bench::number(answer, "seconds");
    if (i == 0 || seconds < row.seconds) row.seconds = seconds;
    row.peak = bench::number(answer, "peak");
  }
  return row;
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
  return {"Python's pickle.load", bench::number(*answer, "seconds"),
          bench::number(*answer, "peak")};
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
    std::printf("%-24s %8s %8s %18s\n", "", "s", "MB/s", "memory / file");
  }
  Json out = Json::array();
  for (const Row& row : rows) {
    if (!json) {
      std::printf("%-24s %8.2f %8.0f %18.2f\n", row.name.c_str(), row.seconds,
                  size / kMB / row.seconds, row.peak / size);
    }
    out.push(Json::object({{"case", row.name},
                           {"seconds", row.seconds},
                           {"mb_per_s", size / kMB / row.seconds},
                           {"peak_bytes", row.peak}}));
  }
  if (json) {
    const Json report =
        Json::object({{"bench", "trace/read"}, {"file_bytes", size}, {"rows", out}});
    std::printf("%s\n", report.text().c_str());
  } else {
    std::printf("%.1f times as fast as Python\n", rows.back().seconds / rows.front().seconds);
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
