// SPDX-License-Identifier: Apache-2.0
// How many allocations a second the allocators serve, as ratios to glibc in the same round: rounds
// go through all of them in turn, so that whatever else the machine does meets each alike.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "heap/fragmentation.h"
#include "support/child.h"
#include "term/progress.h"
#include "term/table.h"

namespace {

using namespace ebb;
using base::Json;

constexpr int kRounds = 7;

/// What threads do: each replaces blocks in slots of its own, at random, and touches their pages.
struct Load {
  const char* name;
  std::size_t threads;
  std::size_t slots;  ///< blocks that live at once, of each thread
  std::size_t least;  ///< bytes; sizes are spread evenly over their logarithm
  std::size_t most;
  std::size_t operations;  ///< one is a free and an allocation, of each thread
  bool handed_on;          ///< what one thread allocates its neighbour frees
};

constexpr Load kLoads[] = {
    {"objects: 16 to 512 B", 1, 20'000, 16, 512, 4'000'000, false},
    {"objects, 4 threads", 4, 20'000, 16, 512, 1'000'000, false},
    {"messages: 1 to 64 KiB", 1, 2'000, 1 << 10, 64 << 10, 1'000'000, false},
    {"messages, freed by another thread", 2, 2'000, 1 << 10, 64 << 10, 400'000, true},
    {"tensors: 64 KiB to 8 MiB", 1, 100, 64 << 10, 8 << 20, 40'000, false},
};

class Worker {
 public:
  Worker(const Load& load, unsigned seed) : random_(seed), blocks_(load.slots) {
    // Drawn before the clock runs.
    std::uniform_real_distribution<double> exponent(std::log(double(load.least)),
                                                    std::log(double(load.most)));
    for (std::size_t& size : sizes_)
      size = static_cast<std::size_t>(std::exp(exponent(random_)));
    for (void*& block : blocks_)
      block = allocate();
  }
  ~Worker() {
    for (void* block : blocks_)
      std::free(block);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void work(std::size_t operations) {
    for (std::size_t i = 0; i < operations; ++i) {
      void*& block = blocks_[random_() % blocks_.size()];
      std::free(block);
      block = allocate();
    }
  }
  std::vector<void*>& blocks() { return blocks_; }

 private:
  void* allocate() {
    const std::size_t size = sizes_[next_++ % std::size(sizes_)];
    auto* block = static_cast<volatile char*>(std::malloc(size));
    for (std::size_t at = 0; at < size; at += 4096)
      block[at] = 1;
    return const_cast<char*>(block);
  }

  std::minstd_rand random_;
  std::vector<void*> blocks_;
  std::size_t sizes_[4096];
  std::size_t next_ = 0;
};

/// Operations a second of all threads together.
double operations_per_second(const Load& load) {
  constexpr std::size_t kExchanges = 40;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < load.threads; ++i)
    workers.push_back(std::make_unique<Worker>(load, static_cast<unsigned>(i + 1)));
  std::int64_t began = 0;
  std::int64_t ended = 0;
  std::barrier start(static_cast<std::ptrdiff_t>(load.threads),
                     [&]() noexcept { began = base::system_clock().now_ns(); });
  std::barrier exchange(static_cast<std::ptrdiff_t>(load.threads), [&]() noexcept {
    if (load.handed_on)
      for (std::size_t i = 1; i < workers.size(); ++i)
        workers[0]->blocks().swap(workers[i]->blocks());
    ended = base::system_clock().now_ns();
  });
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < load.threads; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      for (std::size_t part = 0; part < kExchanges; ++part) {
        workers[i]->work(load.operations / kExchanges);
        exchange.arrive_and_wait();
      }
    });
  }
  threads.clear();
  return double(load.threads * load.operations) / base::seconds_between(began, ended);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<bench::Subject> four_allocators() {
  std::vector<bench::Subject> subjects = bench::subjects();
  subjects.resize(4);  // what is returned how soon is another table's matter
  return subjects;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string(words[1]) == "--measure") {
    const std::size_t which = std::strtoul(words[2], nullptr, 10);
    if (which >= std::size(kLoads)) return 2;
    const double rate = operations_per_second(kLoads[which]);
    std::puts(Json::object({{"rate", rate}}).text().c_str());
    return 0;
  }
  const auto subjects = four_allocators();
  term::Table table({{"load", term::Align::left},
                     {"glibc, million/s"},
                     {"jemalloc"},
                     {"tcmalloc"},
                     {"mimalloc"}});
  {
    term::Progress progress("measuring");
    for (std::size_t load = 0; load < std::size(kLoads); ++load) {
      std::vector<double> glibc;
      std::vector<std::vector<double>> ratios(subjects.size());
      for (int round = 0; round < kRounds; ++round) {
        progress.show((double(load) + double(round) / kRounds) / double(std::size(kLoads)),
                      kLoads[load].name);
        for (std::size_t i = 0; i < subjects.size(); ++i) {
          const Json measured =
              bench::measure_in_child({"--measure", std::to_string(load)}, subjects[i].environment);
          const double rate = bench::number(measured, "rate");
          if (i == 0) glibc.push_back(rate);
          ratios[i].push_back(rate / glibc.back());
        }
      }
      const auto shown = [&](std::size_t i) {
        const auto [least, most] = std::minmax_element(ratios[i].begin(), ratios[i].end());
        return base::format_text("%.2f (%.2f to %.2f)", median(ratios[i]), *least, *most);
      };
      table.add_row({kLoads[load].name, base::format_text("%.3g", median(glibc) / 1e6), shown(1),
                     shown(2), shown(3)});
    }
  }
  std::printf(
      "Allocations a second, each with a free, the pages of every block touched; the others as a\n"
      "ratio to glibc in the same round: the median of %d rounds, the least and the most.\n\n%s",
      kRounds, table.markdown().c_str());
  return 0;
}
