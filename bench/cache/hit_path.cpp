// SPDX-License-Identifier: Apache-2.0
// Nanoseconds per alloc+free pair that is served from the cache: one size again and again, and
// random sizes and lifetimes with a given number of live blocks. Statistics are on, as always.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"
#include "cache/allocator.h"
#include "device/mmap_driver.h"
#include "device/sim_driver.h"

namespace ebb {
namespace {

using cache::Address;
using cache::Allocator;
using Clock = std::chrono::steady_clock;

/// Pairs between two looks at the clock; short, so that most such spans see no other process.
constexpr int kSpan = 2000;

Address take(Allocator& allocator, std::uint64_t bytes, cache::StreamId stream) {
  const Address address = allocator.try_allocate(bytes, stream);
  EBB_CHECK(address != 0);
  return address;
}

/// Runs `pair(i)` for i below `pairs`; the median over spans, in nanoseconds per call.
template <class Pair>
double median_ns(int pairs, Pair&& pair) {
  std::vector<double> spans;
  for (int done = 0; done < pairs;) {
    const int end = std::min(pairs, done + kSpan);
    const int count = end - done;
    const auto start = Clock::now();
    for (; done < end; ++done) {
      pair(static_cast<std::size_t>(done));
    }
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    spans.push_back(elapsed.count() / count);
  }
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end());
  return *middle;
}

double pingpong(Allocator& allocator, std::uint64_t bytes, int pairs, cache::StreamId stream) {
  return median_ns(pairs, [&](std::size_t) { allocator.free(take(allocator, bytes, stream)); });
}

/// Frees a random block and takes one of random size, between 512 bytes and 16 MiB.
double churn(Allocator& allocator, std::size_t live, int pairs, cache::StreamId stream) {
  std::mt19937_64 random(1 + stream);
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(pairs));
  std::vector<std::size_t> slots(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = static_cast<std::uint64_t>(
        std::pow(2.0, 9 + 15.0 * static_cast<double>(random() % 1000) / 1000));
    slots[i] = random() % live;
  }
  std::vector<Address> blocks(live);
  for (Address& block : blocks) {
    block = take(allocator, sizes[random() % sizes.size()], stream);
  }
  const auto pair = [&](std::size_t i) {
    // What the caller's own list costs is not the allocator's: fetched in good time.
    __builtin_prefetch(&blocks[slots[std::min(i + 16, slots.size() - 1)]], 1);
    Address& block = blocks[slots[i]];
    allocator.free(block);
    block = take(allocator, sizes[i], stream);
  };
  median_ns(pairs, pair);  // fills the cache
  const double ns = median_ns(pairs, pair);
  for (const Address block : blocks) {
    allocator.free(block);
  }
  return ns;
}

struct Case {
  std::string name;
  std::uint64_t bytes = 0;  ///< of a pair; 0 for churn
  std::size_t live = 0;
};

double measure(Allocator& allocator, const Case& what, int pairs, int threads) {
  std::vector<double> results(static_cast<std::size_t>(threads));
  std::vector<std::thread> others;
  const auto work = [&](std::size_t index) {
    const auto stream = static_cast<cache::StreamId>(index);
    results[index] = what.bytes != 0 ? pingpong(allocator, what.bytes, pairs, stream)
                                     : churn(allocator, what.live, pairs, stream);
  };
  for (std::size_t i = 1; i < results.size(); ++i) {
    others.emplace_back(work, i);
  }
  work(0);
  for (std::thread& thread : others) {
    thread.join();
  }
  const auto status = allocator.empty_cache();
  EBB_CHECK(status.has_value());
  return *std::max_element(results.begin(), results.end());
}

std::vector<Case> cases() {
  std::vector<Case> all = {{"512 B", 512, 0}, {"1 MiB", 1 << 20, 0}, {"20 MiB", 20 << 20, 0}};
  for (const std::size_t live : {100UL, 1000UL, 10000UL, 100000UL}) {
    all.push_back({base::format_text("churn, %zu live", live), 0, live});
  }
  return all;
}

int run(bool json, int pairs, const std::string& only) {
  device::SimOptions sim_options;
  sim_options.total_memory = 4 * base::kTiB;
  device::SimDriver sim(sim_options);
  device::MmapDriver mmap({.capacity = 1 * base::kTiB});
  base::Json rows = base::Json::array();
  if (!json) std::printf("%-22s %-6s %8s %12s\n", "alloc+free", "driver", "threads", "ns per pair");
  for (device::Driver* driver :
       {static_cast<device::Driver*>(&sim), static_cast<device::Driver*>(&mmap)}) {
    auto allocator = Allocator::create(*driver, 0, {});
    EBB_CHECK(allocator.has_value());
    for (const int threads : {1, 2}) {
      for (const Case& what : cases()) {
        const std::string name =
            base::format_text("%s/%s/%d", what.name.c_str(), driver->kind(), threads);
        if (!only.empty() && name.find(only) == std::string::npos) continue;
        const double ns = measure(**allocator, what, pairs, threads);
        if (!json) {
          std::printf("%-22s %-6s %8d %12.1f\n", what.name.c_str(), driver->kind(), threads, ns);
          std::fflush(stdout);
        }
        rows.push(base::Json::object({{"case", what.name},
                                      {"driver", driver->kind()},
                                      {"threads", threads},
                                      {"ns_per_pair", ns}}));
      }
    }
  }
  if (json) {
    const base::Json report = base::Json::object({{"bench", "cache/hit_path"}, {"rows", rows}});
    std::printf("%s\n", report.text().c_str());
  }
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) {
  bool json = false;
  int pairs = 400000;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--pairs" && i + 1 < argc) {
      pairs = std::atoi(argv[++i]);
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--json] [--pairs N] [--only CASE/DRIVER/THREADS]\n",
                   argv[0]);
      return 2;
    }
  }
  return ebb::run(json, std::max(pairs, 1), only);
}
