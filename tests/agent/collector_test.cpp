// SPDX-License-Identifier: Apache-2.0
#include "agent/collector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/child_process.h"

namespace ebb::agent {
namespace {

/// An interpreter's thread, as the start-up hook of Python has one.
class Language {
 public:
  explicit Language(Collector& collector)
      : thread_([this, &collector] {
          while (const std::uint32_t wanted = collector.await()) {
            seen_ |= wanted;
            ++collections_;
            collector.collected();
          }
        }) {}
  ~Language() { thread_.join(); }

  std::uint32_t seen() const { return seen_; }
  int collections() const { return collections_; }

 private:
  std::atomic<std::uint32_t> seen_{0};
  std::atomic<int> collections_{0};
  std::thread thread_;
};

using Answer = Collector::Answer;

/// Seconds: only against hanging.
constexpr double kPatience = 120;

/// The thread is there once a request is answered.
void wait_for(Collector& collector) {
  while (collector.collect(Collector::kGarbage, kPatience) != Answer::collected)
    std::this_thread::yield();
}

TEST(Collector, AsksAndWaitsForTheAnswer) {
  Collector collector;
  Language language(collector);
  wait_for(collector);
  const int before = language.collections();
  EXPECT_EQ(collector.collect(Collector::kDeviceCaches, kPatience), Answer::collected);
  EXPECT_EQ(language.collections(), before + 1);
  EXPECT_EQ(language.seen(), Collector::kGarbage | Collector::kDeviceCaches);
  collector.close();
}

TEST(Collector, DoesWithoutALanguage) {
  Collector collector;
  EXPECT_EQ(collector.collect(Collector::kGarbage, kPatience), Answer::nobody);
}

TEST(Collector, DoesNotWaitForEverForABusyInterpreter) {
  Collector collector;
  std::atomic<bool> is_asked{false};
  std::atomic<bool> may_end{false};
  std::thread busy([&] {
    collector.await();
    is_asked = true;
    while (!may_end)
      std::this_thread::yield();
    collector.collected();
  });
  while (!is_asked)
    EXPECT_NE(collector.collect(Collector::kGarbage, 0.01), Answer::collected);
  EXPECT_EQ(collector.collect(Collector::kGarbage, 0.01), Answer::late);
  may_end = true;
  busy.join();
}

TEST(Collector, SendsHomeWhoWaitsWhenItCloses) {
  Collector collector;
  Language language(collector);
  wait_for(collector);
  collector.close();
  EXPECT_EQ(collector.collect(Collector::kGarbage, kPatience), Answer::nobody);
}

#if EBB_THREADS_IN_CHILDREN
TEST(Collector, CollectsInAForkedChildAndInItsChild) {
  Collector collector;
  Language language(collector);
  wait_for(collector);
  const auto collects = [&] {
    if (collector.collect(Collector::kGarbage, kPatience) != Answer::nobody) return false;
    std::atomic<int> collections{0};
    std::thread own([&] {
      while (collector.await() != 0) {
        ++collections;
        collector.collected();
      }
    });
    for (int i = 0; i < 3; ++i)
      wait_for(collector);
    const bool grandchild = support::holds_in_child(
        [&] { return collector.collect(Collector::kGarbage, kPatience) == Answer::nobody; });
    wait_for(collector);
    collector.close();
    own.join();
    return collections >= 4 && grandchild;
  };
  EXPECT_TRUE(support::holds_in_child(collects));
  bool of_thread = false;
  std::thread other([&] { of_thread = support::holds_in_child(collects); });
  other.join();
  EXPECT_TRUE(of_thread);
  wait_for(collector);
  collector.close();
}
#endif

TEST(Collector, PassesOnWhatDevicesGaveBackOnce) {
  Collector collector;
  collector.changed(base::DeviceChange::between(0, 100, 40));
  EXPECT_EQ(collector.take_changes(), (std::vector<base::DeviceChange>{{0, 100, 40, 60}}));
  EXPECT_TRUE(collector.take_changes().empty());
}

TEST(Collector, PassesOnTheCardsItWasTold) {
  Collector collector;
  const fact::CardSample first{0, {100, 10, 80, 30}};
  collector.saw({1, {100, 50, 40, 0}});
  collector.saw({0, {100, 90, 1, 1}});
  collector.saw(first);
  EXPECT_EQ(collector.take_cards(), (std::vector<fact::CardSample>{first, {1, {100, 50, 40, 0}}}));
  EXPECT_TRUE(collector.take_cards().empty());
}

}  // namespace
}  // namespace ebb::agent
