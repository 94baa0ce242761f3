// SPDX-License-Identifier: Apache-2.0
#include "keep/ledger.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

using base::kMiB;
using fact::Ledger;
using fact::PrivateAllocator;

fact::ProcessSample process(std::uint64_t anon, std::uint64_t file, std::uint64_t shmem,
                            std::uint64_t swap = 0) {
  fact::ProcessSample sample;
  sample.anon = anon * kMiB;
  sample.file = file * kMiB;
  sample.shmem = shmem * kMiB;
  sample.swap = swap * kMiB;
  sample.rss = (anon + file + shmem) * kMiB;
  return sample;
}

std::uint64_t sum_of(const Ledger& ledger) {
  std::uint64_t sum = 0;
  for (const Ledger::Part& part : ledger.parts())
    sum += part.bytes.value_or(0);
  return sum;
}

bool notes_name(const Ledger& ledger, const std::string& word) {
  for (const std::string& note : ledger.notes)
    if (note.find(word) != std::string::npos) return true;
  return false;
}

TEST(Ledger, AddsUpToRssAndSwap) {
  fact::ProcessSample memory = process(500, 40, 20, 10);
  memory.live = 200 * kMiB;
  memory.retained = 100 * kMiB;
  const std::vector<PrivateAllocator> beside = {
      {"jemalloc", "lib.so", "", true, 50 * kMiB, 30 * kMiB}};
  fact::MappedParts mappings;
  mappings.stacks = 4 * kMiB;
  const Ledger ledger = ledger_of(memory, beside, mappings);
  EXPECT_EQ(ledger.total, 570 * kMiB);
  EXPECT_EQ(sum_of(ledger), *ledger.total);
  EXPECT_EQ(ledger.private_allocators, 80 * kMiB);
  EXPECT_EQ(ledger.unexplained, (510 - 4 - 300 - 80) * kMiB);
  EXPECT_FALSE(ledger.pinned) << "the process does not use CUDA's driver: no number";
  EXPECT_FALSE(ledger.python);
}

TEST(Ledger, WhatIsNotKnownIsNoNumberAndLiesInUnexplained) {
  const Ledger ledger = ledger_of(process(500, 40, 0), std::nullopt, std::nullopt);
  EXPECT_FALSE(ledger.live || ledger.retained || ledger.private_allocators || ledger.stacks);
  EXPECT_EQ(ledger.unexplained, 500 * kMiB);
  EXPECT_EQ(sum_of(ledger), *ledger.total);
  EXPECT_TRUE(notes_name(ledger, "live, retained"));
}

TEST(Ledger, AnAllocatorThatDoesNotCountIsNamed) {
  fact::ProcessSample memory = process(400, 0, 0);
  memory.live = 5 * kMiB;
  memory.retained = kMiB;
  const std::vector<PrivateAllocator> beside = {{"mimalloc", "libarrow.so.2600", "arrow_", true}};
  const Ledger ledger = ledger_of(memory, beside, std::nullopt);
  EXPECT_FALSE(ledger.private_allocators);
  EXPECT_EQ(ledger.unexplained, 394 * kMiB);
  EXPECT_TRUE(notes_name(ledger, "libarrow.so.2600 (mimalloc)"));
  const std::vector<PrivateAllocator> none;
  EXPECT_EQ(ledger_of(memory, none, std::nullopt).private_allocators, 0U)
      << "looked, and none there";
}

TEST(Ledger, LiveThatWasNeverTouchedIsNotInMemory) {
  fact::ProcessSample memory = process(100, 0, 0);
  memory.live = 300 * kMiB;
  memory.retained = 10 * kMiB;
  const Ledger ledger = ledger_of(memory, std::nullopt, std::nullopt);
  EXPECT_EQ(ledger.live, 90 * kMiB);
  EXPECT_EQ(ledger.unexplained, 0U);
  EXPECT_EQ(sum_of(ledger), *ledger.total);
  EXPECT_TRUE(notes_name(ledger, "210.0 MiB"));
}

TEST(Ledger, PinnedMemoryIsCountedOnce) {
  fact::MappedParts mappings;
  mappings.pinned = 320 * kMiB;
  mappings.pinned_shared = 256 * kMiB;
  const Ledger ledger = ledger_of(process(20, 90, 264), std::nullopt, mappings);
  EXPECT_EQ(ledger.pinned, 320 * kMiB);
  EXPECT_EQ(ledger.shared, 8 * kMiB);
  EXPECT_EQ(ledger.file, 26 * kMiB);
  EXPECT_EQ(sum_of(ledger), *ledger.total);
}

TEST(Ledger, PartsThatClaimMoreThanThereIsStillAddUp) {
  fact::ProcessSample memory = process(50, 5, 0);
  memory.live = 40 * kMiB;
  memory.retained = 40 * kMiB;
  fact::MappedParts mappings;
  mappings.stacks = 60 * kMiB;
  mappings.python = 60 * kMiB;
  EXPECT_EQ(sum_of(ledger_of(memory, std::nullopt, mappings)), 55 * kMiB);
}

TEST(Ledger, OfNothingIsNothing) {
  const Ledger ledger = ledger_of({}, std::nullopt, std::nullopt);
  EXPECT_FALSE(ledger.total || ledger.unexplained);
  EXPECT_TRUE(fact::to_json(ledger).find("total_bytes")->is_null());
}

}  // namespace
}  // namespace ebb::keep
