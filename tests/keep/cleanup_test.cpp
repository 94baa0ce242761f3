// SPDX-License-Identifier: Apache-2.0
#include "keep/cleanup.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "support/child_process.h"
#include "support/fake_allocator.h"

namespace ebb::keep {
namespace {

using base::kMiB;

class Hook final : public base::Reclaimer {
 public:
  explicit Hook(std::function<base::Reclaimed()> body) : body_(std::move(body)) {}
  base::Reclaimed reclaim() override { return body_(); }

 private:
  std::function<base::Reclaimed()> body_;
};

class CleanerTest : public testing::Test {
 protected:
  void add_hook(const char* name, base::Stage stage, std::function<base::Reclaimed()> body) {
    reclaimers_.add(name, stage, std::make_shared<Hook>(std::move(body)));
  }

  support::FakeClock clock_;
  support::FakeAllocator heap_{clock_};
  base::ReclaimerRegistry reclaimers_;
  Cleaner cleaner_{heap_, reclaimers_, [this] { return heap_.rss(); }, clock_};
};

TEST_F(CleanerTest, ReportsBytesBeforeAndAfterAndTheTimeTaken) {
  heap_.light_reaches = 500 * kMiB;
  heap_.seconds_per_give_back = 0.03;
  const CleanupReport report = cleaner_.clean({});
  EXPECT_EQ(report.measured.before.rss, 600 * kMiB);
  EXPECT_EQ(report.measured.after.rss, 100 * kMiB);
  EXPECT_EQ(report.measured.returned, 500 * kMiB);
  EXPECT_EQ(report.measured.before.retained, 500 * kMiB);
  EXPECT_EQ(report.measured.after.retained, 0U);
  EXPECT_EQ(report.measured.after.live, 100 * kMiB);
  EXPECT_NEAR(report.measured.seconds, 0.03, 1e-9);
  EXPECT_EQ(report.measured.depth, fact::Depth::light);
  EXPECT_EQ(heap_.light_calls, 1) << "the allocator's own call exactly once";
  EXPECT_EQ(summary_of(report),
            "returned 500.0 MiB in 30 ms: rss 600.0 MiB -> 100.0 MiB (glibc, light)");
}

TEST_F(CleanerTest, GoesDeepByItselfWhereLightLeftEnough) {
  heap_.light_reaches = 10 * kMiB;
  heap_.deep_reaches = 300 * kMiB;
  const CleanupReport report = cleaner_.clean({});
  EXPECT_EQ(report.measured.depth, fact::Depth::deep);
  EXPECT_EQ(report.measured.returned, 310 * kMiB);
  ASSERT_EQ(report.steps.size(), 2U);
  EXPECT_EQ(report.steps[0].returned, static_cast<std::int64_t>(10 * kMiB));
  EXPECT_EQ(report.steps[1].returned, static_cast<std::int64_t>(300 * kMiB));
  EXPECT_EQ(report.notes, std::vector<std::string>{"deep has a side effect"});
}

TEST_F(CleanerTest, ItsObserverHearsOfEveryCleanupAndTrimOnce) {
  std::vector<std::uint64_t> heard;
  cleaner_.observe([&](const fact::Cleanup& done) { heard.push_back(done.returned); });
  heap_.light_reaches = 500 * kMiB;
  cleaner_.clean({});
  heap_.light_reaches = 3 * kMiB;
  EXPECT_TRUE(cleaner_.trim());
  cleaner_.clean({.announce = false});
  EXPECT_EQ(heard, (std::vector<std::uint64_t>{500 * kMiB, 3 * kMiB}));
  heap_.has_calls = false;
  EXPECT_FALSE(cleaner_.trim());
  EXPECT_EQ(heard.size(), 2U) << "nothing was done";
}

TEST_F(CleanerTest, StaysLightForSmallChange) {
  heap_.deep_reaches = 32 * kMiB;
  EXPECT_EQ(cleaner_.clean({}).measured.depth, fact::Depth::light) << "not more than 32 MiB";
  heap_.live = 2000 * kMiB;
  heap_.deep_reaches = 90 * kMiB;
  EXPECT_EQ(cleaner_.clean({}).measured.depth, fact::Depth::light) << "less than 5 %";
  EXPECT_EQ(cleaner_.clean({.deep = true}).measured.depth, fact::Depth::deep) << "unless asked";
}

TEST_F(CleanerTest, DoesNotGoDeepAgainForWhatDeepCannotReach) {
  heap_.nobody_reaches = 200 * kMiB;
  EXPECT_EQ(cleaner_.clean({}).measured.depth, fact::Depth::deep);
  EXPECT_EQ(cleaner_.clean({}).measured.depth, fact::Depth::light);
  EXPECT_EQ(heap_.deep_calls, 1);
  heap_.deep_reaches = 100 * kMiB;
  EXPECT_EQ(cleaner_.clean({}).measured.depth, fact::Depth::deep) << "something new to reach";
}

TEST_F(CleanerTest, RunsEachHookOncePerCallAndDeviceCachesOnlyWhenAsked) {
  int collected = 0;
  int emptied = 0;
  add_hook("gc", base::Stage::collector, [&] {
    ++collected;
    heap_.live -= 20 * kMiB;
    return base::Reclaimed{true, 7, "7 unreachable objects"};
  });
  add_hook("cuda", base::Stage::device_cache, [&] {
    ++emptied;
    return base::Reclaimed{};
  });
  const CleanupReport report = cleaner_.clean({});
  EXPECT_EQ(collected, 1);
  EXPECT_EQ(emptied, 0);
  EXPECT_EQ(report.steps[0].name, "gc");
  EXPECT_EQ(report.steps[0].returned, static_cast<std::int64_t>(20 * kMiB));
  EXPECT_EQ(report.steps[0].detail, "7 unreachable objects");
  static_cast<void>(cleaner_.clean({.cuda_empty_cache = true}));
  EXPECT_EQ(collected, 2);
  EXPECT_EQ(emptied, 1);
  static_cast<void>(cleaner_.clean({.cuda_empty_cache = true, .hooks = false}));
  EXPECT_EQ(collected, 2);
}

TEST_F(CleanerTest, AFailingHookIsReportedAndTheRestStillRuns) {
  add_hook("bad", base::Stage::cache,
           []() -> base::Reclaimed { throw std::runtime_error("no cache here"); });
  heap_.light_reaches = 50 * kMiB;
  const CleanupReport report = cleaner_.clean({});
  EXPECT_FALSE(report.steps[0].ok);
  EXPECT_EQ(report.steps[0].detail, "no cache here");
  EXPECT_EQ(report.measured.returned, 50 * kMiB);
}

TEST_F(CleanerTest, WorksOnAnAllocatorThatTellsAndDoesNothing) {
  heap_.tells_live = false;
  heap_.has_calls = false;
  heap_.says = heap::AllocatorKind::unknown;
  const CleanupReport report = cleaner_.clean({});
  EXPECT_EQ(report.measured.returned, 0U);
  EXPECT_EQ(report.measured.before.live, std::nullopt);
  EXPECT_TRUE(report.steps.empty());
  EXPECT_EQ(cleaner_.trim(), std::nullopt);
}

TEST_F(CleanerTest, GrowthDuringACleanupIsNotAReturn) {
  heap_.during_give_back = [&] { heap_.live += 10 * kMiB; };
  EXPECT_EQ(cleaner_.clean({}).measured.returned, 0U);
}

TEST_F(CleanerTest, TrimSpeaksNvflaresLanguage) {
  heap_.light_reaches = kMiB;
  EXPECT_EQ(cleaner_.trim(), 1);
  EXPECT_EQ(cleaner_.trim(), 0);
  heap_.says = heap::AllocatorKind::jemalloc;  // no return code of its own: RSS decides
  heap_.light_reaches = kMiB;
  EXPECT_EQ(cleaner_.trim(), 1);
  EXPECT_EQ(cleaner_.trim(), 0);
}

TEST_F(CleanerTest, ACallFromInsideAHookReturnsAtOnce) {
  CleanupReport nested;
  add_hook("recursive", base::Stage::cache, [&] {
    nested = cleaner_.clean({});
    return base::Reclaimed{};
  });
  static_cast<void>(cleaner_.clean({}));
  EXPECT_EQ(nested.notes,
            std::vector<std::string>{"called from inside a cleanup: nothing was done"});
  EXPECT_EQ(heap_.light_calls, 1);
}

TEST_F(CleanerTest, ConcurrentCallsShareOneCleanup) {
  std::atomic<bool> inside{false};
  std::atomic<bool> second_is_coming{false};
  heap_.light_reaches = 77 * kMiB;
  heap_.during_give_back = [&] {
    inside = true;
    while (!second_is_coming)
      std::this_thread::yield();
    // The second caller is on its way into clean(); it either waits for us or starts its own.
    for (int i = 0; i < 1000; ++i)
      std::this_thread::yield();
  };
  CleanupReport first;
  CleanupReport second;
  std::thread other([&] { first = cleaner_.clean({}); });
  while (!inside)
    std::this_thread::yield();
  std::thread latecomer([&] {
    second_is_coming = true;
    second = cleaner_.clean({});
  });
  other.join();
  latecomer.join();
  EXPECT_FALSE(first.coalesced);
  EXPECT_EQ(first.measured.returned, 77 * kMiB);
  if (second.coalesced) {
    EXPECT_EQ(second.measured.returned, first.measured.returned);
    EXPECT_EQ(heap_.light_calls, 1);
  } else {
    EXPECT_EQ(heap_.light_calls, 2) << "it came after the first had ended";
  }
}

TEST_F(CleanerTest, WhoWantsMoreThanDevicesIsNotServedWithThem) {
  std::atomic<bool> inside{false};
  std::atomic<pid_t> waiting{0};
  add_hook("cuda", base::Stage::device_cache, [&] {
    inside = true;
    while (waiting == 0)
      std::this_thread::yield();
    support::wait_until_asleep(waiting);
    return base::Reclaimed{};
  });
  std::thread devices([&] { static_cast<void>(cleaner_.clean({.devices_alone = true})); });
  while (!inside)
    std::this_thread::yield();
  CleanupReport whole;
  std::thread other([&] {
    waiting = gettid();
    whole = cleaner_.clean({});
  });
  devices.join();
  other.join();
  EXPECT_FALSE(whole.coalesced);
  EXPECT_EQ(heap_.light_calls, 1) << "once, and not for the devices";
}

TEST_F(CleanerTest, OneThatRunsOutOfMemoryLeavesNobodyWaiting) {
  bool is_out_of_memory = true;
  Cleaner cleaner(
      heap_, reclaimers_,
      [&] {
        if (is_out_of_memory) throw std::bad_alloc();
        return heap_.rss();
      },
      clock_);
  EXPECT_THROW(cleaner.clean({}), std::bad_alloc);
  is_out_of_memory = false;
  bool is_coalesced = true;
  std::thread([&] { is_coalesced = cleaner.clean({}).coalesced; }).join();
  EXPECT_FALSE(is_coalesced);
}

TEST_F(CleanerTest, ManyThreadsMayCleanAndChangeHooks) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop)
        static_cast<void>(cleaner_.clean({.cuda_empty_cache = true}));
    });
  for (int i = 0; i < 200 || heap_.light_calls < 10; ++i) {
    const auto id = reclaimers_.add("hook", base::Stage::cache,
                                    std::make_shared<Hook>([] { return base::Reclaimed{}; }));
    heap_.light_reaches += kMiB;
    reclaimers_.remove(id);
  }
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_TRUE(reclaimers_.names().empty());
}

#if EBB_THREADS_IN_CHILDREN
/// A cleanup under way in one thread, with another one that waits for its report.
class CleanupUnderWay {
 public:
  CleanupUnderWay(Cleaner& cleaner, support::FakeAllocator& heap) : heap_(heap) {
    heap.during_give_back = [this] {
      inside_ = true;
      while (!may_end_)
        std::this_thread::yield();
    };
    threads_.emplace_back([&] { static_cast<void>(cleaner.clean({})); });
    while (!inside_)
      std::this_thread::yield();
    threads_.emplace_back([this, &cleaner] {
      waiting_ = gettid();
      static_cast<void>(cleaner.clean({}));
    });
    while (waiting_ == 0)
      std::this_thread::yield();
    support::wait_until_asleep(waiting_);
  }
  ~CleanupUnderWay() {
    may_end_ = true;
    for (std::thread& thread : threads_)
      thread.join();
    heap_.during_give_back = nullptr;
  }

 private:
  support::FakeAllocator& heap_;
  std::atomic<bool> inside_{false};
  std::atomic<bool> may_end_{false};
  std::atomic<pid_t> waiting_{0};
  std::vector<std::thread> threads_;
};

class ForkedCleanerTest : public CleanerTest {
 protected:
  /// As if its parent had never cleaned.
  bool starts_free() {
    heap_.during_give_back = nullptr;
    const CleanupReport first = cleaner_.clean({});
    { const CleanupUnderWay own(cleaner_, heap_); }
    const CleanupReport last = cleaner_.clean({});
    return !first.coalesced && first.notes.empty() && !last.coalesced && last.notes.empty();
  }
};

TEST_F(ForkedCleanerTest, AForkedChildStartsFree) {
  const CleanupUnderWay in_parent(cleaner_, heap_);
  EXPECT_TRUE(support::holds_in_child([this] { return starts_free(); }));
}

TEST_F(ForkedCleanerTest, SoDoesOneOfAnotherThreadAndOneOfAChild) {
  const CleanupUnderWay in_parent(cleaner_, heap_);
  bool is_free = false;
  std::thread other([&] {
    is_free = support::holds_in_child([this] {
      return starts_free() && support::holds_in_child([this] { return starts_free(); });
    });
  });
  other.join();
  EXPECT_TRUE(is_free);
}
#endif

TEST_F(CleanerTest, ACleanupWhoseHookForksEndsInBothProcesses) {
  pid_t child = -1;
  add_hook("forks", base::Stage::cache, [&] {
    if (child == -1) child = fork();
    return base::Reclaimed{};
  });
  const CleanupReport report = cleaner_.clean({});
  EXPECT_EQ(heap_.light_calls, 1);
  if (child == 0) {
    const CleanupReport again = cleaner_.clean({});
    _exit(report.steps.size() == 2 && again.notes.empty() && !again.coalesced ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(report.steps.size(), 2U);
}

TEST(CleanupJson, CarriesEveryFigure) {
  CleanupReport report;
  report.allocator = heap::AllocatorKind::jemalloc;
  report.measured.before.rss = 10;
  report.measured.before.live = 5;
  report.measured.after.rss = 4;
  report.measured.after.live = 4;
  report.measured.after.retained = 0;
  report.measured.returned = 6;
  report.steps.push_back({"gc", true, 1, 0.5, "x"});
  report.notes.emplace_back("n");
  EXPECT_EQ(
      to_json(report).text(),
      R"({"allocator":"jemalloc","before":{"rss_bytes":10,"live_bytes":5,)"
      R"("retained_bytes":null},"after":{"rss_bytes":4,"live_bytes":4,"retained_bytes":0},)"
      R"("returned_bytes":6,"devices":[],"seconds":0,"depth":"light","steps":[{"name":"gc","ok":true,)"
      R"("returned_bytes":1,"seconds":0.5,"detail":"x"}],"notes":["n"],"coalesced":false})");
}

}  // namespace
}  // namespace ebb::keep
