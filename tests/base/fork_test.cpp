// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <thread>
#include <vector>

#include "support/child_process.h"

namespace ebb::base {
namespace {

using support::holds_in_child;
using support::said_by_child;

/// A thread that never stops changing what a mutex guards.
class Busy {
 public:
  explicit Busy(ForkMutex& mutex)
      : thread_([this, &mutex] {
          while (!stop_) {
            const Lock lock(mutex);
            ++first_;
            ++second_;
          }
        }) {}
  ~Busy() {
    stop_ = true;
    thread_.join();
  }

  bool is_whole() const { return first_ == second_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> second_{0};
  std::thread thread_;
};

/// A thread that holds a mutex until it is told to let go.
class Holder {
 public:
  explicit Holder(ForkMutex& mutex)
      : thread_([this, &mutex] {
          const Lock lock(mutex);
          holds_ = true;
          holds_.notify_all();
          may_go_.wait(false);
        }) {
    holds_.wait(false);
  }
  ~Holder() {
    may_go_ = true;
    may_go_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<bool> holds_{false};
  std::atomic<bool> may_go_{false};
  std::thread thread_;
};

/// What this process, a fork of the test, sees of `busy`: "whole", "broken", or "lost" where the
/// thread that held the lock did not get on in time, as happens on a busy machine.
/// Short strings only: a sanitizer's allocator does not survive a fork from many threads.
std::string seen_here(ForkMutex& mutex, const Busy& busy) {
  alarm(60);
  if (fork_lost()) return "lost";
  const Lock lock(mutex);
  return busy.is_whole() ? "whole" : "broken";
}

TEST(Fork, AChildFindsLocksFreeAndWhatTheyGuardWhole) {
  ForkMutex mutex(0);
  const Busy busy(mutex);
  int whole = 0;
  int lost = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string said = said_by_child([&] { return seen_here(mutex, busy); });
    whole += said == "whole" ? 1 : 0;
    lost += said == "lost" ? 1 : 0;
  }
  EXPECT_GT(whole, 0);
  EXPECT_EQ(whole + lost, 50) << "the others are broken";
}

TEST(Fork, WorksFromManyThreadsAtOnceAndInAFork) {
  ForkMutex mutex(0);
  const Busy busy(mutex);
  std::atomic<int> whole{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const std::string said = said_by_child([&] {
          const std::string grandchild = said_by_child([&] { return seen_here(mutex, busy); });
          return grandchild + " in " + seen_here(mutex, busy);
        });
        whole += said == "whole in whole" ? 1 : 0;
        // A fork of one that was lost is lost as well.
        lost += said == "lost in whole" || said == "lost in lost" ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_GT(whole, 0);
  EXPECT_EQ(whole + lost, 40) << "the others are broken";
}

TEST(Fork, PutsOwnersInOrderHighRanksFirst) {
  static std::string order;
  const auto note = [](void* name) { order += static_cast<const char*>(name); };
  char b[] = "b", k[] = "k", a[] = "a", h[] = "h";
  const ForkMutex base(0, note, b);
  const ForkMutex keep(3, note, k);
  const ForkMutex agent(4, note, a);
  { const ForkMutex gone(5, note, a); }
  const ForkMutex heap(2, note, h);
  EXPECT_EQ(support::said_by_child([] { return order; }), "akhb");
  EXPECT_EQ(order, "") << "in the child alone";
}

TEST(Fork, GivesUpOnALockThatIsNotLetGo) {
  ForkMutex other(1);
  ForkMutex mutex(0);
  static std::atomic<int> lost_children{0};
  when_fork_lost([] { ++lost_children; });
  {
    const Holder holder(mutex);
    EXPECT_TRUE(holds_in_child([] {
      const bool grandchild = holds_in_child([] { return fork_lost() && lost_children == 2; });
      const ForkMutex made_here(0);
      return fork_lost() && lost_children == 1 && grandchild;
    }));
  }
  EXPECT_FALSE(fork_lost()) << "the parent is not the child";
  { const Lock lock(other); }
  EXPECT_TRUE(holds_in_child([&] {
    const Lock lock(mutex);
    return !fork_lost() && lost_children == 0;
  })) << "the next one is whole again";
  when_fork_lost(nullptr);
}

TEST(Fork, AChildWithoutHandlersIsLost) {
  const ForkMutex mutex(0);
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (pid == 0) _exit(fork_lost() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(Fork, CountsGenerations) {
  const std::uint64_t here = fork_generation();
  EXPECT_TRUE(holds_in_child([&] {
    return fork_generation() == here + 1 &&
           holds_in_child([&] { return fork_generation() == here + 2; });
  }));
  EXPECT_EQ(fork_generation(), here);
}

#if EBB_THREADS_IN_CHILDREN
TEST(Condition, WakesInAChildWhateverWaitsInTheParent) {
  static Condition* condition = nullptr;
  Condition changed;
  condition = &changed;
  ForkMutex mutex(0, [](void*) { condition->renew(); });
  bool is_over = false;
  std::atomic<pid_t> waiting{0};
  std::thread waiter([&] {
    const Lock lock(mutex);
    waiting = gettid();
    while (!is_over)
      changed.wait(mutex);
  });
  while (waiting == 0)
    std::this_thread::yield();
  support::wait_until_asleep(waiting);
  EXPECT_TRUE(holds_in_child([&] {
    {
      const Lock lock(mutex);
      changed.notify_all();
    }
    std::atomic<pid_t> own_waiting{0};
    std::thread own([&] {
      const Lock lock(mutex);
      own_waiting = gettid();
      while (!is_over)
        changed.wait(mutex);
    });
    while (own_waiting == 0)
      std::this_thread::yield();
    support::wait_until_asleep(own_waiting);
    {
      const Lock lock(mutex);
      is_over = true;
      changed.notify_all();  // the second one waits for those whom the first one woke
    }
    own.join();
    return true;
  }));
  {
    const Lock lock(mutex);
    is_over = true;
    changed.notify_all();
  }
  waiter.join();
}
#endif

TEST(MadeOnce, GivesEveryThreadTheSame) {
  std::atomic<int*> place{nullptr};
  std::atomic<int*> seen{nullptr};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      int* mine = &made_once(place, [&] { return new int(i); });
      int* none = nullptr;
      EXPECT_TRUE(seen.compare_exchange_strong(none, mine) || mine == none);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  delete place.load();
}

}  // namespace
}  // namespace ebb::base
