// SPDX-License-Identifier: Apache-2.0
// The library in forked children, at moments at which it is busy.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "ebb/ebb.h"
#include "ebb/ebb.hpp"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace {

using ebb::support::holds_in_child;

/// Threads that do something over and over.
class Busy {
 public:
  explicit Busy(const std::vector<std::function<void()>>& bodies) {
    for (const auto& body : bodies) {
      threads_.emplace_back([this, body] {
        while (!stop_)
          body();
      });
    }
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_)
      thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

ebb_keeper* make_keeper() {
  ebb_keeper_options options{};
  options.struct_size = sizeof options;
  options.role = "server";
  options.rounds = EBB_ROUNDS_EVERY;
  options.every = 1;
  options.cuda_empty_cache = -1;
  ebb_keeper* keeper = nullptr;
  EXPECT_EQ(ebb_keeper_create(&options, &keeper), EBB_OK);
  return keeper;
}

int count_call(void* context, uint64_t*) {
  ++*static_cast<std::atomic<int>*>(context);
  return 0;
}

/// What a job may do, in whatever process.
bool works(ebb_keeper* keeper) {
  std::atomic<int> calls{0};
  uint64_t hook = 0;
  int cleaned = 0;
  const bool added = ebb_hook_add("mine", EBB_STAGE_CACHE, count_call, &calls, &hook) == EBB_OK;
  bool fine = added && ebb_keeper_round_done(keeper, &cleaned, nullptr) == EBB_OK;
  for (int i = 0; i < 3; ++i)
    fine = fine && ebb_cleanup(0, nullptr) == EBB_OK;
  fine = fine && ebb_give_back_at_once(1, nullptr) == EBB_OK;
  fine = fine && ebb_give_back_at_once(0, nullptr) == EBB_OK;
  ebb_keeper* own = make_keeper();
  fine = fine && ebb_keeper_round_done(own, nullptr, nullptr) == EBB_OK;
  ebb_keeper_destroy(own);
  return fine && ebb_hook_remove(hook) == EBB_OK && cleaned == 1 && calls >= 4 && ebb_rss() > 0;
}

#if EBB_MALLOC_IN_CHILDREN
/// A child that was forked while a lock was held too long, as happens on a busy machine, runs
/// without Ebb.
bool is_lost() {
  uint64_t hook = 0;
  static std::atomic<int> calls{0};
  if (ebb_hook_add("probe", EBB_STAGE_CACHE, count_call, &calls, &hook) == EBB_UNAVAILABLE)
    return true;
  ebb_hook_remove(hook);
  return false;
}

TEST(CapiFork, ChildrenOfAnyThreadWorkWhateverTheParentWasDoing) {
  ebb_keeper* keeper = make_keeper();
  // Counts what all processes say of it.
  void* shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& working = *new (shared) std::atomic<int>(0);
  const auto works_or_is_lost = [&] {
    if (is_lost()) return true;
    if (!works(keeper)) return false;
    ++working;
    return true;
  };
  {
    const Busy busy({[] { ebb_cleanup(0, nullptr); }, [] { ebb_cleanup(1, nullptr); },
                     [&] { ebb_keeper_round_done(keeper, nullptr, nullptr); },
                     [] {
                       ebb_give_back_at_once(1, nullptr);
                       ebb_give_back_at_once(0, nullptr);
                     }});
    const auto forks = [&] {
      for (int i = 0; i < 8; ++i) {
        EXPECT_TRUE(
            holds_in_child([&] { return works_or_is_lost() && holds_in_child(works_or_is_lost); }));
      }
    };
    std::thread other(forks);
    forks();
    other.join();
  }
  EXPECT_GT(working, 0);
  EXPECT_TRUE(works(keeper));
  ebb_keeper_destroy(keeper);
}
#endif

TEST(CapiFork, AHookMayFork) {
  static pid_t child = -1;
  const ebb::Hook hook("forks", EBB_STAGE_CACHE, [] {
    if (child == -1) child = fork();
    return std::uint64_t{0};
  });
  EXPECT_EQ(ebb_cleanup(0, nullptr), EBB_OK);
  if (child == 0) _exit(ebb_cleanup(0, nullptr) == EBB_OK ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

#if EBB_THREADS_IN_CHILDREN
TEST(CapiFork, AChildWatchesPressureWhenItAsksTo) {
  const ebb::support::TemporaryDirectory directory;
  const std::string fifo = directory / "pressure";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  setenv("MEMORY_PRESSURE_WATCH", fifo.c_str(), 1);
  int watching = 0;
  ASSERT_EQ(ebb_watch_pressure(&watching), EBB_OK);
  EXPECT_EQ(watching, 1);
  EXPECT_TRUE(holds_in_child([&] {
    std::atomic<int> cleanups{0};
    ebb_hook_add("counts", EBB_STAGE_CACHE, count_call, &cleanups, nullptr);
    const int writer = open(fifo.c_str(), O_WRONLY);
    int again = 0;
    if (ebb_watch_pressure(&again) != EBB_OK || again != 1) return false;
    // The parent reads from the same pipe: one of these comes to this process.
    while (cleanups == 0) {
      if (write(writer, "x", 1) != 1) return false;
      std::this_thread::yield();
    }
    return true;
  }));
  unsetenv("MEMORY_PRESSURE_WATCH");
}
#endif

TEST(CapiFork, ASumThatIsBeingUsedIsRefusedInTheChild) {
  constexpr std::size_t kElements = 1 << 18;
  const std::vector<float> values(kElements, 1);
  ebb_sum* sum = nullptr;
  ASSERT_EQ(ebb_sum_create(kElements, &sum), EBB_OK);
  {
    const Busy busy({[&] { ebb_sum_add(sum, EBB_FLOAT32, values.data(), 1); }});
    const auto is_refused = [&] {
      return ebb_sum_add(sum, EBB_FLOAT32, values.data(), 1) == EBB_UNAVAILABLE;
    };
    // It is in use nearly always; sooner or later a fork finds it so.
    while (!holds_in_child([&] {
      const bool refused = is_refused();
      ebb_sum_destroy(sum);
      return refused;
    })) {
    }
    EXPECT_FALSE(is_refused());
  }
  ebb_sum_destroy(sum);
}

TEST(CapiFork, AChildForkedWhileALockIsStuckRunsWithoutEbb) {
  const ebb::support::TemporaryDirectory directory;
  const std::string fifo = directory / "driver";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  setenv("EBB_TORCH_DRIVER", ("cuda:" + fifo).c_str(), 1);
  ebb_keeper* keeper = make_keeper();
  std::atomic<pid_t> opening{0};
  void* memory = nullptr;
  // Loading a driver that is a pipe waits for its writer.
  std::thread opener([&] {
    opening = gettid();
    EXPECT_EQ(ebb_torch_try_alloc(512, 0, nullptr, &memory), EBB_UNAVAILABLE);
  });
  while (opening == 0)
    std::this_thread::yield();
  ebb::support::wait_until_asleep(opening);
  EXPECT_TRUE(holds_in_child([&] {
    ebb_cleanup_report report{};
    report.struct_size = sizeof report;
    int cleaned = 1;
    bool off = ebb_cleanup(0, &report) == EBB_OK && report.disabled == 1;
    off = off && ebb_keeper_round_done(keeper, &cleaned, nullptr) == EBB_OK && cleaned == 0;
    off = off && ebb_hook_remove(1) == EBB_UNAVAILABLE && ebb_trim() == -1;
    off = off && ebb_torch_try_alloc(512, 0, nullptr, &memory) == EBB_UNAVAILABLE;
    ebb_keeper_destroy(make_keeper());
    return off && ebb_rss() > 0;
  }));
  close(open(fifo.c_str(), O_WRONLY));
  opener.join();
  unsetenv("EBB_TORCH_DRIVER");
  EXPECT_TRUE(works(keeper)) << "the parent is not the child";
  EXPECT_TRUE(holds_in_child([&] { return works(keeper); })) << "nor is the next one";
  ebb_keeper_destroy(keeper);
}

}  // namespace
