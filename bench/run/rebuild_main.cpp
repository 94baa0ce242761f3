// SPDX-License-Identifier: Apache-2.0
// A job that rebuilds 1 GiB on eight threads every 20 seconds: alone, and under `ebb run`, one
// after the other: side by side each would slow the other down by as much as there is to measure.
// What the supervisor and the agent take is counted in, and so are the page faults after cleanups.
//
//   run-rebuild [MINUTES]     of each; 10 without a number
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/text.h"
#include "sense/process.h"
#include "sense/process_tree.h"
#include "term/progress.h"
#include "term/table.h"
#include "trend/series.h"

namespace {

using namespace ebb;

constexpr const char* kPeriod = "20";

/// A job that runs, with everything below it.
struct Subject {
  std::string name;
  pid_t pid = 0;
  std::vector<double> rss;  // of all its processes, each second
  rusage usage{};
  bool is_over = false;

  void start(const std::vector<std::string>& command) {
    pid = ::fork();
    if (pid != 0) return;
    std::vector<char*> words;
    for (const std::string& word : command)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) std::_Exit(127);
    ::execv(words[0], words.data());
    std::_Exit(127);
  }

  void look() {
    int status = 0;
    if (is_over) return;
    if (::wait4(pid, &status, WNOHANG, &usage) == pid) {
      is_over = true;
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "run-rebuild: %s did not end well\n", name.c_str());
        std::exit(1);
      }
      return;
    }
    std::uint64_t sum = sense::read_rss_fast(pid).value_or(0);
    for (const pid_t child : sense::descendants_of(pid).value_or({}))
      sum += sense::read_rss_fast(child).value_or(0);
    rss.push_back(static_cast<double>(sum));
  }

  /// Until it ends, which should take so long.
  void watch(double expected_seconds) {
    term::Progress progress(name);
    for (double second = 0; !is_over; ++second) {
      progress.show(std::min(1.0, second / expected_seconds), "");
      std::this_thread::sleep_for(std::chrono::seconds(1));
      look();
    }
  }

  double steady() const {
    return trend::median({rss.begin() + static_cast<std::ptrdiff_t>(rss.size() / 2), rss.end()});
  }
  double peak() const { return *std::max_element(rss.begin(), rss.end()); }
  static double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }
  double user() const { return seconds(usage.ru_utime); }
  double system() const { return seconds(usage.ru_stime); }
};

std::string mib(double bytes) {
  return base::format_text("%.0f MiB", bytes / static_cast<double>(base::kMiB));
}

std::string change(double before, double after) {
  return base::format_text("%+.1f %%", (after / before - 1) * 100);
}

}  // namespace

int main(int count, char** words) {
  const double minutes = count > 1 ? std::atof(words[1]) : 10;
  if (!(minutes > 0)) {
    std::fprintf(stderr, "run-rebuild: '%s': expected minutes\n", words[1]);
    return 2;
  }
  const std::string length = base::format_text("%.0f", minutes * 60);
  Subject alone{"glibc alone", 0, {}, {}, false};
  Subject managed{"ebb run", 0, {}, {}, false};
  alone.start({EBB_REBUILD_JOB, length, kPeriod});
  alone.watch(minutes * 60);
  managed.start(
      {EBB_PROGRAM, "run", "--no-record", "--quiet", "--", EBB_REBUILD_JOB, length, kPeriod});
  managed.watch(minutes * 60);
  term::Table table({{"", term::Align::left}, {alone.name}, {managed.name}, {"change"}});
  table.add_row({"steady RSS (median of the second half)", mib(alone.steady()),
                 mib(managed.steady()), change(alone.steady(), managed.steady())});
  table.add_row(
      {"peak RSS", mib(alone.peak()), mib(managed.peak()), change(alone.peak(), managed.peak())});
  const auto add_time = [&](const char* name, double before, double after) {
    table.add_row({name, base::format_text("%.1f s", before), base::format_text("%.1f s", after),
                   change(before, after)});
  };
  add_time("CPU time", alone.user() + alone.system(), managed.user() + managed.system());
  add_time("of it in the program", alone.user(), managed.user());
  add_time("of it in the kernel", alone.system(), managed.system());
  table.add_row({"page faults", std::to_string(alone.usage.ru_minflt),
                 std::to_string(managed.usage.ru_minflt),
                 change(static_cast<double>(alone.usage.ru_minflt),
                        static_cast<double>(managed.usage.ru_minflt))});
  std::printf(
      "1 GiB rebuilt on 8 threads every %s s for %.0f minutes, one after the other; the supervisor "
      "is counted in.\n\n%s\n",
      kPeriod, minutes, table.markdown().c_str());
  return 0;
}
