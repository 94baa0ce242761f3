// SPDX-License-Identifier: Apache-2.0
// What Ebb's own work costs: detection, readings and cleanups, by size and fragmentation of the
// heap, and how long other threads stand still meanwhile.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "heap/fragmentation.h"
#include "heap/host_allocator.h"
#include "heap/workload.h"
#include "keep/cleanup.h"
#include "sense/process.h"
#include "support/child.h"
#include "term/progress.h"
#include "term/table.h"

namespace {

using namespace ebb;
using base::Json;

double seconds_of(const auto& body) {
  const std::int64_t start = base::system_clock().now_ns();
  body();
  return base::seconds_between(start, base::system_clock().now_ns());
}

double median_seconds(int repeats, const auto& body) {
  std::vector<double> all;
  for (int i = 0; i < repeats; ++i)
    all.push_back(seconds_of(body));
  std::nth_element(all.begin(), all.begin() + repeats / 2, all.end());
  return all[static_cast<std::size_t>(repeats / 2)];
}

/// Allocates without rest and remembers the longest time that one allocation took.
class Bystander {
 public:
  Bystander() : thread_([this] { work(); }) {
    while (!running_)
      std::this_thread::yield();
  }
  ~Bystander() {
    stop_ = true;
    thread_.join();
  }

  /// The longest wait since the last call.
  double longest_wait() { return longest_.exchange(0); }

 private:
  void work() {
    while (!stop_) {
      // Above what threads cache for themselves, so that the arena itself is asked.
      void* volatile block = nullptr;
      const double waited = seconds_of([&] { block = std::malloc(20'000); });
      std::free(block);
      longest_ = std::max(longest_.load(), waited);
      running_ = true;
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{false};
  std::atomic<double> longest_{0};
  std::thread thread_;
};

void measure_here(std::size_t heap_mib, std::size_t block) {
  const double detection = seconds_of([] { static_cast<void>(heap::detect_here()); });
  base::ReclaimerRegistry registry;
  keep::Cleaner cleaner(heap::host_allocator(), registry, bench::rss_now);
  bench::Blocks blocks(heap_mib * base::kMiB / block, block);
  blocks.free_all_but_every(2);
  const auto meter = sense::RssMeter::for_self();
  const double cheap = median_seconds(1001, [&] { static_cast<void>(meter->read()); });
  const double full = median_seconds(5, [] { static_cast<void>(heap::host_allocator().read()); });
  Bystander bystander;
  bystander.longest_wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double undisturbed = bystander.longest_wait();
  const keep::CleanupReport report = cleaner.clean({});
  const double stalled = bystander.longest_wait();
  std::puts(Json::object({{"detection", detection},
                          {"cheap", cheap},
                          {"full", full},
                          {"cleanup", report.measured.seconds},
                          {"returned", double(report.measured.returned)},
                          {"undisturbed", undisturbed},
                          {"stalled", stalled}})
                .text()
                .c_str());
}

}  // namespace

int main(int count, char** words) {
  if (count == 4 && std::string(words[1]) == "--measure") {
    measure_here(std::strtoul(words[2], nullptr, 10), std::strtoul(words[3], nullptr, 10));
    return 0;
  }
  term::Table table({{"allocator", term::Align::left},
                     {"heap"},
                     {"blocks"},
                     {"detection ms"},
                     {"cheap reading us"},
                     {"full reading ms"},
                     {"cleanup ms"},
                     {"returned MiB"},
                     {"stall ms"},
                     {"stall without cleanup ms"}});
  {
    term::Progress progress("measuring");
    const auto subjects = bench::subjects();
    double done = 0;
    for (const bench::Subject& subject : subjects) {
      for (const char* heap_mib : {"128", "1024"}) {
        for (const char* block : {"8192", "65536"}) {
          progress.show(done++ / (double(subjects.size()) * 4), subject.name);
          const Json m =
              bench::measure_in_child({"--measure", heap_mib, block}, subject.environment);
          const auto show = [&](const char* key, double scale, const char* format) {
            char text[32];
            std::snprintf(text, sizeof text, format, bench::number(m, key) * scale);
            return std::string(text);
          };
          table.add_row({subject.name, std::string(heap_mib) + " MiB",
                         std::to_string(std::strtoul(block, nullptr, 10) / 1024) + " KiB",
                         show("detection", 1e3, "%.1f"), show("cheap", 1e6, "%.1f"),
                         show("full", 1e3, "%.2f"), show("cleanup", 1e3, "%.1f"),
                         show("returned", 1.0 / double(base::kMiB), "%.0f"),
                         show("stalled", 1e3, "%.1f"), show("undisturbed", 1e3, "%.1f")});
        }
      }
    }
  }
  std::printf(
      "Every second block freed. stall: the longest malloc(20 kB) of another thread during the\n"
      "cleanup, beside the longest in 200 ms without one.\n\n%s",
      table.markdown().c_str());
  return 0;
}
