// SPDX-License-Identifier: Apache-2.0
#include "base/reclaimer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "support/child_process.h"

namespace ebb::base {
namespace {

class Lambda final : public Reclaimer {
 public:
  explicit Lambda(std::function<Reclaimed()> body) : body_(std::move(body)) {}
  Reclaimed reclaim() override { return body_(); }

 private:
  std::function<Reclaimed()> body_;
};

std::shared_ptr<Reclaimer> make(std::function<Reclaimed()> body) {
  return std::make_shared<Lambda>(std::move(body));
}

TEST(ReclaimerRegistry, RunsByStageThenByOrderOfRegistration) {
  ReclaimerRegistry registry;
  std::vector<std::string> order;
  const auto note = [&](const char* name) {
    return make([&order, name] {
      order.emplace_back(name);
      return Reclaimed{};
    });
  };
  registry.add("cuda", Stage::device_cache, note("cuda"));
  registry.add("cache a", Stage::cache, note("cache a"));
  registry.add("gc", Stage::collector, note("gc"));
  registry.add("cache b", Stage::cache, note("cache b"));
  registry.run(false, [](const auto&, const auto&, double) {});
  EXPECT_EQ(order, (std::vector<std::string>{"gc", "cache a", "cache b"}));
  order.clear();
  registry.run(true, [](const auto&, const auto&, double) {});
  EXPECT_EQ(order.back(), "cuda");
  EXPECT_EQ(registry.names(), order);
  order.clear();
  registry.run(
      false, [](const auto&, const auto&, double) {}, false);
  EXPECT_EQ(order, (std::vector<std::string>{"cache a", "cache b"}));
}

TEST(ReclaimerRegistry, RunsOneStageAloneAndThoseThatTellInNoCleanup) {
  ReclaimerRegistry registry;
  std::vector<Stage> order;
  for (const Stage stage :
       {Stage::device_reading, Stage::device_cache, Stage::cache, Stage::collector})
    registry.add("one", stage, make([&order, stage] {
                   order.push_back(stage);
                   return Reclaimed{};
                 }));
  registry.run(true, [](const auto&, const auto&, double) {});
  EXPECT_EQ(order, (std::vector{Stage::collector, Stage::cache, Stage::device_cache}));
  for (const Stage alone : {Stage::device_cache, Stage::device_reading}) {
    order.clear();
    registry.run_only(alone, [](const auto&, const auto&, double) {});
    EXPECT_EQ(order, std::vector{alone});
  }
}

TEST(ReclaimerRegistry, ReportsExceptionsInsteadOfPassingThemOn) {
  ReclaimerRegistry registry;
  registry.add("throws", Stage::cache, make([]() -> Reclaimed { throw std::runtime_error("no"); }));
  registry.add("throws 7", Stage::cache, make([]() -> Reclaimed { throw 7; }));
  std::vector<std::string> details;
  registry.run(false, [&](const auto&, const Reclaimed& r, double) {
    EXPECT_FALSE(r.ok);
    details.push_back(r.detail);
  });
  EXPECT_EQ(details.size(), 2U);
  EXPECT_EQ(details[0], "no");
}

TEST(ReclaimerRegistry, RemoveWaitsForACallUnderWay) {
  ReclaimerRegistry registry;
  std::atomic<bool> entered{false};
  std::atomic<bool> removing{false};
  std::atomic<bool> left{false};
  const auto id = registry.add("slow", Stage::cache, make([&] {
                                 entered = true;
                                 while (!removing)
                                   std::this_thread::yield();
                                 for (int i = 0; i < 1000; ++i)  // until remove() waits
                                   std::this_thread::yield();
                                 left = true;
                                 return Reclaimed{};
                               }));
  std::thread runner([&] { registry.run(false, [](const auto&, const auto&, double) {}); });
  while (!entered)
    std::this_thread::yield();
  std::thread remover([&] {
    removing = true;
    EXPECT_TRUE(registry.remove(id));
    EXPECT_TRUE(left) << "its context may die now";
  });
  remover.join();
  runner.join();
  EXPECT_FALSE(registry.remove(id));
}

TEST(ReclaimerRegistry, AHookMayRemoveItselfOrItsSuccessor) {
  ReclaimerRegistry registry;
  int second_calls = 0;
  ReclaimerRegistry::Id first = 0;
  ReclaimerRegistry::Id second = 0;
  first = registry.add("first", Stage::cache, make([&] {
                         EXPECT_TRUE(registry.remove(first));
                         EXPECT_TRUE(registry.remove(second));
                         return Reclaimed{};
                       }));
  second = registry.add("second", Stage::cache, make([&] {
                          ++second_calls;
                          return Reclaimed{};
                        }));
  registry.run(false, [](const auto&, const auto&, double) {});
  EXPECT_EQ(second_calls, 0);
  EXPECT_TRUE(registry.names().empty());
}

#if EBB_THREADS_IN_CHILDREN
/// A call under way in one thread, and another thread that waits for its end to remove it.
class CallUnderWay {
 public:
  explicit CallUnderWay(ReclaimerRegistry& registry) {
    const auto id = registry.add("slow", Stage::cache, make([this] {
                                   entered_ = true;
                                   while (!may_end_)
                                     std::this_thread::yield();
                                   return Reclaimed{};
                                 }));
    threads_.emplace_back([&] { registry.run(false, [](const auto&, const auto&, double) {}); });
    while (!entered_)
      std::this_thread::yield();
    threads_.emplace_back([this, &registry, id] {
      removing_ = gettid();
      EXPECT_TRUE(registry.remove(id));
    });
    while (removing_ == 0)
      std::this_thread::yield();
    support::wait_until_asleep(removing_);
  }
  ~CallUnderWay() {
    may_end_ = true;
    for (std::thread& thread : threads_)
      thread.join();
  }

 private:
  std::atomic<bool> entered_{false};
  std::atomic<bool> may_end_{false};
  std::atomic<pid_t> removing_{0};
  std::vector<std::thread> threads_;
};

TEST(ReclaimerRegistry, AForkedChildHasNoCallUnderWay) {
  ReclaimerRegistry registry;
  const CallUnderWay in_parent(registry);
  EXPECT_TRUE(support::holds_in_child([&] {
    const auto id = registry.add("quick", Stage::cache, make([] { return Reclaimed{}; }));
    registry.run(false, [](const auto&, const auto&, double) {});
    { const CallUnderWay in_child(registry); }
    return registry.remove(id) && registry.names().empty();
  }));
}
#endif

TEST(ReclaimerRegistry, ACallThatForksGoesOnInBothProcesses) {
  ReclaimerRegistry registry;
  pid_t child = -1;
  registry.add("forks", Stage::cache, make([&] {
                 child = fork();
                 return Reclaimed{};
               }));
  int ended = 0;
  registry.run(false, [&](const auto&, const auto&, double) { ++ended; });
  if (child == 0) {
    child = -1;
    _exit(ended == 1 && registry.names().size() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace ebb::base
