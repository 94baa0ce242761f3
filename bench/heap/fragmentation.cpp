// SPDX-License-Identifier: Apache-2.0
#include "heap/fragmentation.h"

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>

#include "base/clock.h"
#include "heap/workload.h"
#include "keep/cleanup.h"
#include "keep/job_environment.h"

namespace ebb::bench {
namespace {

constexpr std::size_t kBlockBytes = 30'000;
constexpr std::size_t kBlocks = 20'000;  // 600 MB
constexpr std::size_t kKeepEvery = 200;  // 0.5 % stay
constexpr int kThreads = 20;
constexpr std::size_t kBlocksPerThread = 1'700;  // 51 MB

keep::Cleaner& cleaner() {
  static base::ReclaimerRegistry registry;
  static keep::Cleaner the_cleaner(heap::host_allocator(), registry, rss_now);
  return the_cleaner;
}

void clean_by(const std::string& how, HeapLife& life) {
  const std::int64_t start = base::system_clock().now_ns();
  if (how == "ebb") {
    static_cast<void>(cleaner().clean({}));
  } else if (how == "deep") {
    static_cast<void>(cleaner().clean({.deep = true}));
  } else if (how == "trim") {
    malloc_trim(0);
  } else {
    clean_as_nvflare();
  }
  life.seconds = base::seconds_between(start, base::system_clock().now_ns());
  life.cleaned = static_cast<double>(rss_now());
}

void print(const HeapLife& life) {
  std::puts(base::Json::object({{"base", life.base},
                                {"full", life.full},
                                {"freed", life.freed},
                                {"cleaned", life.cleaned},
                                {"seconds", life.seconds}})
                .text()
                .c_str());
}

void live_with_fragments(const std::string& cleanup) {
  HeapLife life;
  life.base = static_cast<double>(rss_now());
  Blocks blocks(kBlocks, kBlockBytes);
  life.full = static_cast<double>(rss_now());
  blocks.free_all_but_every(kKeepEvery);
  life.freed = static_cast<double>(rss_now());
  clean_by(cleanup, life);
  print(life);
}

void live_with_threads(const std::string& cleanup, bool alive) {
  // The first large block that a job frees raises glibc's thresholds; every training job does.
  void* volatile tensor = std::malloc(30 << 20);
  std::free(tensor);
  HeapLife life;
  life.base = static_cast<double>(rss_now());
  std::latch all_full(kThreads + 1);
  std::latch may_free(1);
  std::latch all_freed(kThreads + 1);
  std::latch may_end(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Blocks blocks(kBlocksPerThread, kBlockBytes);
      all_full.arrive_and_wait();
      may_free.wait();
      blocks.free_all_but_every(0);
      all_freed.arrive_and_wait();
      may_end.wait();
    });
  }
  all_full.arrive_and_wait();
  life.full = static_cast<double>(rss_now());
  may_free.count_down();
  all_freed.arrive_and_wait();
  const auto end_threads = [&] {
    may_end.count_down();
    for (std::thread& thread : threads)
      thread.join();
  };
  if (!alive) end_threads();
  life.freed = static_cast<double>(rss_now());
  clean_by(cleanup, life);
  if (alive) end_threads();
  print(life);
}

HeapLife life_from(const base::Json& measured) {
  return {number(measured, "base"), number(measured, "full"), number(measured, "freed"),
          number(measured, "cleaned"), number(measured, "seconds")};
}

Environment recommended(const char* allocator) {
  const auto variables = keep::job_environment_for(keep::Role::client, allocator);
  if (!variables) {
    std::fprintf(stderr, "bench: %s\n", variables.error().message.c_str());
    std::exit(1);
  }
  Environment environment;
  for (const keep::EnvironmentVariable& variable : *variables)
    environment.emplace_back(variable.name, variable.value);
  return environment;
}

/// The preload alone: the allocator as somebody would try it without advice.
Environment preload_only(const char* allocator) {
  return {recommended(allocator).front()};
}

}  // namespace

std::vector<Subject> subjects() {
  return {{"glibc", {}},
          {"jemalloc", preload_only("jemalloc")},
          {"tcmalloc", preload_only("tcmalloc")},
          {"mimalloc", preload_only("mimalloc")},
          {"mimalloc + ebb env", recommended("mimalloc")}};
}

HeapLife fragmentation_in_child(const Subject& subject, const std::string& cleanup) {
  return life_from(measure_in_child({"--fragmentation", cleanup}, subject.environment));
}

HeapLife threads_in_child(const std::string& cleanup, bool alive) {
  return life_from(measure_in_child({"--threads", cleanup, alive ? "alive" : "ended"}, {}));
}

bool run_as_child(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "--fragmentation") {
    live_with_fragments(arguments[1]);
    return true;
  }
  if (arguments.size() == 3 && arguments[0] == "--threads") {
    live_with_threads(arguments[1], arguments[2] == "alive");
    return true;
  }
  return false;
}

}  // namespace ebb::bench
