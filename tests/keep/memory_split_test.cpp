// SPDX-License-Identifier: Apache-2.0
#include "keep/memory_split.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

using base::kMiB;

std::uint64_t sum_of(const fact::MemorySplit& split) {
  std::uint64_t sum = 0;
  for (const fact::MemorySplit::Part& part : split.parts())
    sum += part.bytes.value_or(0);
  return sum;
}

bool notes(const fact::MemorySplit& split, const std::string& part) {
  for (const std::string& note : split.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

GroupMember member(int pid, std::uint64_t anon, std::optional<std::uint64_t> live = {},
                   std::optional<std::uint64_t> retained = {}) {
  GroupMember one;
  one.pid = pid;
  one.name = "job";
  one.memory.anon = anon * kMiB;
  if (live) one.memory.live = *live * kMiB;
  if (retained) one.memory.retained = *retained * kMiB;
  return one;
}

fact::GroupMemory group_of(std::uint64_t usage, std::uint64_t anon) {
  fact::GroupMemory group;
  group.usage = usage * kMiB;
  group.anon = anon * kMiB;
  return group;
}

TEST(MemorySplit, NamesThePlaceThatHoldsMuchOfWhatIsLive) {
  std::vector<GroupMember> members{member(1, 150, 150), member(2, 60, 60)};
  members[0].sites = {{"a.py:1 small", 30 * kMiB}};
  members[1].sites = {{"b.c:2 asked", 90 * kMiB}, {"b.c:3 other", 1 * kMiB}};
  fact::Fix fix = split_of(group_of(256, 240), members).fix;
  EXPECT_EQ(fix.text, "60.0 MiB live at b.c:2 asked: free what is not used") << "as far as touched";
  EXPECT_EQ(fix.bytes, 60 * kMiB);
  members[1].sites = {{"b.c:3 other", 20 * kMiB}};
  fix = split_of(group_of(256, 240), members).fix;
  EXPECT_TRUE(fix.text.starts_with("210.0 MiB live on the heap, 150.0 MiB of it in process 1"))
      << "spread over many places: " << fix.text;
}

TEST(MemorySplit, HasWhatWasNeverTouchedBesideIt) {
  const std::vector<GroupMember> members{member(1, 100, 160), member(2, 50, 40), member(3, 20)};
  const fact::MemorySplit split = split_of(group_of(256, 170), members);
  EXPECT_EQ(split.untouched, 60 * kMiB);
  EXPECT_EQ(split.processes[0].untouched, 60 * kMiB);
  EXPECT_EQ(split.processes[1].untouched, 0U);
  EXPECT_FALSE(split.processes[2].untouched) << "nobody asked it";
  EXPECT_EQ(sum_of(split), split.usage);
}

TEST(MemorySplit, AddsUpToWhatTheGroupHolds) {
  fact::GroupMemory group = group_of(256, 150);
  group.shmem = 40 * kMiB;
  group.cache = 50 * kMiB;
  group.dirty = 10 * kMiB;
  group.kernel = 12 * kMiB;
  group.slab = 6 * kMiB;
  group.sockets = 1 * kMiB;
  group.stacks = 2 * kMiB;
  group.page_tables = 1 * kMiB;
  GroupMember one = member(7, 100, 80, 10);
  one.memory.shmem = 25 * kMiB;
  const std::vector<GroupMember> members{one, member(8, 40, 30, 5)};
  const fact::MemorySplit split = split_of(group, members);
  EXPECT_EQ(sum_of(split), split.usage);
  EXPECT_EQ(split.live, 110 * kMiB);
  EXPECT_EQ(split.retained, 15 * kMiB);
  EXPECT_EQ(split.shared, 25 * kMiB);
  EXPECT_EQ(split.tmpfs, 15 * kMiB);
  EXPECT_EQ(split.cache_dirty, 10 * kMiB);
  EXPECT_EQ(split.cache_clean, 40 * kMiB);
  EXPECT_EQ(split.slab, 6 * kMiB);
  EXPECT_EQ(split.kernel_other, 2 * kMiB);
  EXPECT_EQ(split.unexplained,
            256 * kMiB - 110 * kMiB - 15 * kMiB - 40 * kMiB - 50 * kMiB - 12 * kMiB);
  ASSERT_EQ(split.processes.size(), 2U);
  EXPECT_EQ(split.processes[0].pid, 7);
  EXPECT_EQ(split.processes[0].live, 80 * kMiB);
}

TEST(MemorySplit, CountsPagesThatProcessesShareOnce) {
  // Two workers over what their parent built; each has copied 20 MiB of it.
  GroupMember parent = member(1, 90, 84);
  parent.memory.shared = 60 * kMiB;
  GroupMember worker = member(2, 90, 84);
  worker.memory.shared = 50 * kMiB;
  worker.copies = 20 * kMiB;
  GroupMember other = worker;
  other.pid = 3;
  const std::vector<GroupMember> members{parent, worker, other};
  const fact::MemorySplit split = split_of(group_of(120, 110), members);
  EXPECT_EQ(split.copies, 40 * kMiB);
  EXPECT_LE(sum_of(split), split.usage);
  EXPECT_NEAR(double(*split.live), 70.0 * 84 / 90 * kMiB, 1.0 * kMiB);
  EXPECT_TRUE(split.notes.empty() || !notes(split, "claim"));
}

TEST(MemorySplit, WhatProcessesClaimTooMuchIsCutAndSaid) {
  const std::vector<GroupMember> members{member(1, 90, 80), member(2, 90, 80)};
  const fact::MemorySplit split = split_of(group_of(100, 90), members);
  EXPECT_LE(sum_of(split), 100 * kMiB);
  EXPECT_LE(*split.live, 90 * kMiB);
  EXPECT_TRUE(notes(split, "90.0 MiB more than the group holds"));
}

TEST(MemorySplit, SaysWhatIsNotKnown) {
  const std::vector<GroupMember> members{member(1, 60), member(2, 20, 90)};
  const fact::MemorySplit split = split_of(group_of(100, 80), members);
  EXPECT_EQ(split.live, 20 * kMiB);
  EXPECT_FALSE(split.retained);
  EXPECT_FALSE(split.tmpfs);
  EXPECT_FALSE(split.slab);
  EXPECT_EQ(split.unexplained, 80 * kMiB);
  EXPECT_TRUE(notes(split, "live: 70.0 MiB more were asked for and never touched"));
  EXPECT_TRUE(notes(split, "60.0 MiB of processes whose allocator did not say"));
}

TEST(MemorySplit, TheSmallestFixIsWhatCanBeGivenBack) {
  const std::vector<GroupMember> members{member(1, 240, 120, 110)};
  const fact::Fix fix = split_of(group_of(256, 240), members).fix;
  EXPECT_EQ(fix.kind, fact::FixKind::cleanup);
  EXPECT_EQ(fix.bytes, 110 * kMiB);
  EXPECT_EQ(fix.text, "110.0 MiB retained: a cleanup would have carried it on");
}

TEST(MemorySplit, WhatCanBeGivenBackIsNoFixOfAPlaceThatHoldsMuchMore) {
  std::vector<GroupMember> members{member(1, 240, 210, 16)};
  EXPECT_EQ(split_of(group_of(256, 240), members).fix.kind, fact::FixKind::cleanup);
  members[0].sites = {{"train.py:89 loss", 200 * kMiB}};
  EXPECT_EQ(split_of(group_of(256, 240), members).fix.text,
            "200.0 MiB live at train.py:89 loss: free what is not used");
  members[0].memory.live = 160 * kMiB;
  members[0].memory.retained = 60 * kMiB;
  EXPECT_EQ(split_of(group_of(256, 240), members).fix.kind, fact::FixKind::cleanup);
}

TEST(MemorySplit, ElseTheFixIsAboutTheLargestPartThatTheKernelCannotDrop) {
  const std::vector<GroupMember> members{member(1, 60, 50, 4)};
  fact::GroupMemory group = group_of(256, 60);
  group.cache = 190 * kMiB;
  group.shmem = 0;
  fact::Fix fix = split_of(group, members).fix;
  EXPECT_TRUE(fix.text.starts_with("50.0 MiB live on the heap, 50.0 MiB of it in process 1"))
      << fix.text;
  group.cache = 30 * kMiB;
  group.shmem = 160 * kMiB;
  fix = split_of(group, members).fix;
  EXPECT_TRUE(fix.text.starts_with("160.0 MiB of files in tmpfs")) << fix.text;
}

TEST(MemorySplit, NamesThePlaceThatMappedSharedMemory) {
  std::vector<GroupMember> members{member(1, 20, 10, 1)};
  members[0].memory.shmem = 200 * kMiB;
  members[0].sites = {{"ring.py:115 add", 210 * kMiB}, {"a.py:1 f", 9 * kMiB}};
  fact::GroupMemory group = group_of(256, 20);
  group.shmem = 200 * kMiB;
  EXPECT_EQ(split_of(group, members).fix.text,
            "200.0 MiB of shared memory, mapped at ring.py:115 add: unmap and remove it once used");
  // It mapped nothing of that size: these are of its heap, or were never touched.
  for (const std::uint64_t mib : {9U, 100U, 400U}) {
    members[0].sites = {{"ring.py:115 add", mib * kMiB}};
    EXPECT_EQ(split_of(group, members).fix.text,
              "200.0 MiB of shared memory: unmap and remove it once used");
  }
}

TEST(MemorySplit, TellsTheSupervisorApart) {
  fact::GroupMemory group = group_of(256, 120);
  group.supervisor = 10 * kMiB;
  const std::vector<GroupMember> members{member(1, 110, 100)};
  const fact::MemorySplit split = split_of(group, members);
  EXPECT_EQ(split.supervisor, 10 * kMiB);
  EXPECT_EQ(split.live, 100 * kMiB);
  EXPECT_EQ(sum_of(split), split.usage);
}

TEST(MemorySplit, OfNothingIsNothing) {
  const fact::MemorySplit split = split_of({}, {});
  EXPECT_EQ(sum_of(split), 0U);
  EXPECT_TRUE(split.fix.text.empty());
}

}  // namespace
}  // namespace ebb::keep
