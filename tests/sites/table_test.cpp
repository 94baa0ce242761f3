// SPDX-License-Identifier: Apache-2.0
#include "sites/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <thread>

#include "sites/table_view.h"
#include "sites/tally.h"
#include "support/temporary_directory.h"

namespace ebb::sites {
namespace {

class Tables : public testing::Test {
 protected:
  void open() { ASSERT_TRUE(table_->open(path().c_str(), 4242)); }
  std::string path() const { return folder_ / "sites-4242-1"; }
  TableView view() const {
    const auto read = TableView::read(path());
    EXPECT_TRUE(read) << read.error().message;
    return read.value_or({});
  }
  static Table::Kept kept(std::uint64_t size, std::uint32_t stack, std::uint32_t draw = 0) {
    return {size, Table::about_of(stack, 0, draw), 7};
  }

  support::TemporaryDirectory folder_;
  std::unique_ptr<Table> table_ = std::make_unique<Table>();
};

TEST_F(Tables, WhatIsInsertedIsReadFromOutsideUntilItIsRemoved) {
  open();
  const std::uint64_t call = 0x401000;
  const std::uint32_t stack = table_->add_stack(&call, 1, nullptr, 0, false);
  table_->insert(0x10000, kept(8 << 20, stack));
  table_->insert(0x20000, kept(4 << 20, stack));
  EXPECT_TRUE(table_->may_hold(0x10000));
  EXPECT_NEAR(static_cast<double>(view().sites[stack].bytes), 12 << 20, 4 << 10);
  EXPECT_EQ(view().sites[stack].samples, 2U);
  Table::Kept found{};
  EXPECT_TRUE(table_->remove(0x10000, &found));
  EXPECT_EQ(found.size, 8U << 20);
  EXPECT_FALSE(table_->remove(0x10000, &found));
  EXPECT_FALSE(table_->may_hold(0x10000));
  EXPECT_EQ(view().sites[stack].samples, 1U);
  EXPECT_EQ(view().samples, 2U);
}

TEST_F(Tables, TheSameStackAndTextAreKeptOnce) {
  open();
  const std::uint64_t calls[] = {1, 2, 3};
  const std::uint32_t text = table_->add_text("train.py");
  EXPECT_EQ(table_->add_text("train.py"), text);
  EXPECT_NE(table_->add_text("train.pz"), text);
  const PythonCall python{text, text, 9};
  const std::uint32_t stack = table_->add_stack(calls, 3, &python, 1, true);
  EXPECT_EQ(table_->add_stack(calls, 3, &python, 1, true), stack);
  EXPECT_NE(table_->add_stack(calls, 3, &python, 1, false), stack);
  table_->add_module(0x1000, 0x2000, 0x1000, "/usr/lib/one.so");
  table_->add_module(0x3000, 0x4000, 0x3000, "/usr/lib/two.so");
  const auto reader = StackReader::open(path());
  ASSERT_TRUE(reader);
  const RawStack read = reader->stack(stack);
  EXPECT_EQ(read.native, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_EQ(read.python.size(), 1U);
  EXPECT_EQ(read.python[0].file, "train.py");
  EXPECT_EQ(read.python[0].line, 9U);
  EXPECT_TRUE(read.is_joined);
  ASSERT_EQ(reader->modules().size(), 2U);
  EXPECT_EQ(reader->modules()[1].path, "/usr/lib/one.so");
}

TEST_F(Tables, AFullTableGrowsAndThenIsThinnedWithoutBias) {
  open();
  Random random{5};
  constexpr std::uint64_t kBlocks = 400'000, kSize = 256 << 10;
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    if (random.uniform() > chance_of(kSize, 0)) continue;
    const auto draw = static_cast<std::uint32_t>(random.next() >> 40);
    ++taken;
    if (stays(kSize, 0, table_->thinned(), draw))
      table_->insert(0x7f0000000000 + i * kSize, kept(kSize, 0, draw));
  }
  const TableView now = view();
  EXPECT_GT(taken, 131'072U);  // more than there is room for
  EXPECT_GE(table_->thinned(), 1U);
  EXPECT_GT(now.distance, kBaseDistance);
  const double truth = static_cast<double>(kBlocks * kSize);
  EXPECT_NEAR(static_cast<double>(now.sites.at(0).bytes) / truth, 1, 0.02);
  EXPECT_LT(now.sites.at(0).error / truth, 0.01);
}

TEST_F(Tables, AMarkedAddressStaysMarked) {
  table_->mark(0x5000);
  open();
  Table::Kept found{};
  EXPECT_TRUE(table_->may_hold(0x5000));
  EXPECT_FALSE(table_->remove(0x5000, &found));
  EXPECT_TRUE(table_->may_hold(0x5000));
}

TEST_F(Tables, AFileThatIsThereIsNotTaken) {
  folder_.write("sites-4242-1", "somebody's");
  EXPECT_FALSE(table_->open(path().c_str(), 4242));
}

TEST_F(Tables, ThreadsInsertAndRemoveWhileAnotherReads) {
  open();
  std::vector<std::thread> threads;
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> removed{0};
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 4000; ++i) {
        const std::uint64_t calls[] = {t, i % 50};
        const std::uint32_t stack = table_->add_stack(calls, 2, nullptr, 0, false);
        const std::uint64_t address = (t + 1) << 40 | i << 4;
        table_->insert(address, kept(1 << 20, stack, static_cast<std::uint32_t>(i)));
        Table::Kept found{};
        // Every tenth stays.
        if (i % 10 != 0 && table_->remove(address, &found)) ++removed;
      }
    });
  }
  std::thread reader([&] {
    while (!is_over) {
      const auto read = TableView::read(path());
      EXPECT_TRUE(read);
    }
  });
  for (std::thread& thread : threads)
    thread.join();
  is_over = true;
  reader.join();
  std::uint64_t live = 0;
  for (const auto& [stack, site] : view().sites)
    live += site.samples;
  // Who meets another one that makes room does without the sample, and counts it.
  EXPECT_EQ(live + removed + view().dropped, 16'000U);
  EXPECT_LE(live, 1600U);
  EXPECT_EQ(view().samples, 16'000U);
  // How often that happens is up to the scheduler; alone, nobody is left out.
  const auto dropped = view().dropped;
  const std::uint64_t call = 7;
  table_->insert(0x7000, kept(1 << 20, table_->add_stack(&call, 1, nullptr, 0, false), 1));
  Table::Kept found{};
  EXPECT_TRUE(table_->remove(0x7000, &found));
  EXPECT_EQ(view().dropped, dropped);
}

}  // namespace
}  // namespace ebb::sites
