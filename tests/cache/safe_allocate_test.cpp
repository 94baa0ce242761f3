// SPDX-License-Identifier: Apache-2.0
#include "cache/safe_allocate.h"

#include <gtest/gtest.h>

#include <functional>

#include "cache/fixture.h"
#include "support/fake_clock.h"

namespace ebb::cache {
namespace {

class Hook final : public base::Reclaimer {
 public:
  explicit Hook(std::function<void()> body) : body_(std::move(body)) {}
  base::Reclaimed reclaim() override {
    body_();
    return {.ok = true, .count = 1, .detail = "one model"};
  }

 private:
  std::function<void()> body_;
};

struct SafeWorld {
  SafeWorld() : driver({.total_memory = kGiB, .events = device::Completion::by_hand}) {
    auto made = Allocator::create(driver, 0, {});
    EXPECT_TRUE(made);
    allocator = std::move(*made);
  }
  void add_hook(std::function<void()> body) {
    hooks.add("drop model", base::Stage::device_cache, std::make_shared<Hook>(std::move(body)));
  }
  SafeAllocation allocate(std::uint64_t bytes) {
    return safe_allocate(*allocator, hooks, bytes, 0);
  }

  device::SimDriver driver;
  std::unique_ptr<Allocator> allocator;
  base::ReclaimerRegistry hooks;
};

TEST(SafeAllocate, RunsNoHookWhenThereIsMemory) {
  SafeWorld world;
  bool ran = false;
  world.add_hook([&] { ran = true; });
  const SafeAllocation result = world.allocate(kMiB);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.cause, Cause::none);
  EXPECT_FALSE(ran);
  EXPECT_EQ(text_of(result), "served at once");
}

TEST(SafeAllocate, ReportsThatTheHooksHelped) {
  SafeWorld world;
  const Address held = world.allocator->try_allocate(800 * kMiB, 0);
  world.add_hook([&] { EXPECT_TRUE(world.allocator->free(held)); });
  const SafeAllocation result = world.allocate(600 * kMiB);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.cause, Cause::shortage);
  EXPECT_EQ(result.remedy, Remedy::hooks);
  EXPECT_EQ(result.let_go, 800 * kMiB);
  EXPECT_EQ(result.returned, 800 * kMiB);
  ASSERT_EQ(result.hooks.size(), 1U);
  EXPECT_EQ(result.hooks[0].name, "drop model");
  EXPECT_EQ(result.hooks[0].detail, "one model");
  EXPECT_NE(text_of(result).find("the hooks helped: 600.0 MiB served"), std::string::npos);
}

TEST(SafeAllocate, ReportsAShortageThatNothingHelped) {
  SafeWorld world;
  world.allocator->try_allocate(800 * kMiB, 0);
  const SafeAllocation result = world.allocate(600 * kMiB);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.cause, Cause::shortage);
  EXPECT_EQ(result.remedy, Remedy::none);
  EXPECT_EQ(result.last.kind, FailureKind::out_of_memory);
  EXPECT_NE(text_of(result).find("nothing helped; device 0: no memory for 600.0 MiB"),
            std::string::npos);
}

TEST(SafeAllocate, TellsFragmentationFromShortage) {
  SafeWorld world;
  std::vector<Address> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.push_back(world.allocator->try_allocate(9 * kMiB, 0));
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2) {
    EXPECT_TRUE(world.allocator->free(blocks[i]));
  }
  const SafeAllocation result = world.allocate(300 * kMiB);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.cause, Cause::fragmentation);
}

TEST(SafeAllocate, SeesThatWaitingForOtherStreamsWasEnough) {
  SafeWorld world;
  const Address keeps_segment = world.allocator->try_allocate(2 * kMiB, 0);
  const std::uint64_t bytes = 9 * kMiB + 512 * kKiB;
  const Address block = world.allocator->try_allocate(bytes, 0);
  world.allocator->record_stream(block, 7);
  world.allocator->free(block);
  EXPECT_TRUE(world.allocator->set_memory_fraction(30.0 / 1024));
  const SafeAllocation result = world.allocate(bytes);
  EXPECT_EQ(result.address, block);
  EXPECT_EQ(result.remedy, Remedy::waiting);
  EXPECT_TRUE(world.allocator->free(keeps_segment));
}

TEST(SafeAllocate, DoesNotRetryWhatNoMemoryCouldServe) {
  SafeWorld world;
  bool ran = false;
  world.add_hook([&] { ran = true; });
  const SafeAllocation result = world.allocate(kAbsurdSize);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.cause, Cause::refused);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace ebb::cache
