// SPDX-License-Identifier: Apache-2.0
#include "keep/private_memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

using base::kMiB;
using fact::PrivateAllocator;
using fact::Verdict;
using Points = std::vector<trend::Point>;

Points level(double mib) {
  Points points;
  for (int i = 0; i < 240; ++i)
    points.push_back({double(i), (mib + std::sin(i * 12.9898) * 0.5) * double(kMiB)});
  return points;
}

/// A process of 400 MiB in which malloc accounts for 20.
struct Job {
  Points rss = level(400);
  Points anon = level(390);
  Points live = level(15);
  Points retained = level(2);
  Points beside = level(373);
  std::vector<PrivateAllocator> allocators;
  CleanupSum cleanups;

  ProcessDiagnosis diagnosis() const {
    MemorySeries series;
    series.rss = rss;
    series.anon = anon;
    series.live = live;
    series.retained = retained;
    series.beside = beside;
    series.private_allocators = allocators;
    series.cleanups = cleanups;
    return diagnose(series);
  }
};

PrivateAllocator arrow() {
  return {"mimalloc", "libarrow.so.2600", "arrow_", true};
}

bool found_name(const ProcessDiagnosis& found, const std::string& word) {
  for (const std::string& line : found.findings)
    if (line.find(word) != std::string::npos) return true;
  return false;
}

TEST(PrivateMemory, WhatCleanupsReturnedFromItIsItsVerdict) {
  Job job;
  job.allocators = {arrow()};
  job.allocators[0].asked = 4;
  job.allocators[0].returned = 1300 * kMiB;
  job.cleanups = {4, 1400 * kMiB, 350 * kMiB, 0.01};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::private_allocator) << found.headline;
  EXPECT_NE(found.headline.find("libarrow.so.2600 (mimalloc)"), std::string::npos);
  EXPECT_EQ(found.fix.kind, fact::FixKind::settings);
  EXPECT_NE(found.fix.text.find("ARROW_DEFAULT_MEMORY_POOL=system"), std::string::npos);
  EXPECT_EQ(found.confidence, fact::Confidence::high);
}

TEST(PrivateMemory, OneCleanupIsEnoughWhereThoseBeforeItCameTooEarly) {
  Job job;
  job.allocators = {arrow()};
  job.allocators[0].asked = 3;
  job.allocators[0].returned = 320 * kMiB;
  job.cleanups = {3, 325 * kMiB, 1 * kMiB, 0.01, {}, 324 * kMiB};
  job.rss = level(80);
  job.anon = level(70);
  job.beside = level(50);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::private_allocator) << job.diagnosis().headline;
  job.allocators[0].returned = 2 * kMiB;
  EXPECT_NE(job.diagnosis().verdict, Verdict::private_allocator) << "malloc's";
  job.allocators[0].returned = 60 * kMiB;
  job.cleanups = {3, 62 * kMiB, 1 * kMiB, 0.01, {}, 60 * kMiB};
  EXPECT_NE(job.diagnosis().verdict, Verdict::private_allocator) << "less than half";
}

TEST(PrivateMemory, WhatCleanupsReturnedFromMallocStaysRetention) {
  Job job;
  job.allocators = {arrow()};
  job.allocators[0].asked = 4;
  job.allocators[0].returned = 3 * kMiB;
  job.cleanups = {4, 1400 * kMiB, 350 * kMiB, 0.01};
  EXPECT_EQ(job.diagnosis().verdict, Verdict::retention);
}

TEST(PrivateMemory, StandsBesideALeakOfMalloc) {
  Job job;
  for (Points* points : {&job.rss, &job.anon, &job.live})
    for (trend::Point& point : *points)
      point.value += point.seconds * 0.5 * double(kMiB);
  job.allocators = {arrow()};
  job.allocators[0].asked = 4;
  job.allocators[0].returned = 1300 * kMiB;
  job.cleanups = {4, 1400 * kMiB, 350 * kMiB, 0.01};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::leak) << found.headline;
  EXPECT_EQ(found.also, std::vector{Verdict::private_allocator}) << "and no retention of malloc";
}

TEST(PrivateMemory, WhatIsInUseIsNamedAndNoVerdict) {
  Job job;
  job.allocators = {arrow()};
  job.allocators[0].asked = 2;
  job.cleanups = {2, 1 * kMiB, 0, 0.01};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::healthy) << found.headline;
  EXPECT_TRUE(found_name(found, "libarrow.so.2600 (mimalloc): asked"));
}

TEST(PrivateMemory, OneThatCannotBeAskedIsAGuessAndSaysSo) {
  Job job;
  job.allocators = {{"mimalloc", "libthing.so", "", false}};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::private_allocator) << found.headline;
  EXPECT_EQ(found.confidence, fact::Confidence::low);
  EXPECT_NE(found.fix.text.find("MIMALLOC_PURGE_DELAY=0"), std::string::npos) << found.fix.text;
}

TEST(PrivateMemory, TheSettingOfAJemallocIsThatOfItsPrefix) {
  Job job;
  job.allocators = {{"jemalloc", "_polars_runtime.abi3.so", "_rjem_", true}};
  job.allocators[0].asked = 3;
  job.allocators[0].returned = 1000 * kMiB;
  job.cleanups = {3, 1000 * kMiB, 333 * kMiB, 0.01};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::private_allocator) << found.headline;
  EXPECT_NE(found.fix.text.find("_RJEM_MALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0"),
            std::string::npos)
      << found.fix.text;
}

TEST(PrivateMemory, GrowthOutsideMallocNamesWhoMayHoldIt) {
  Job job;
  for (Points* points : {&job.rss, &job.anon, &job.beside})
    for (trend::Point& point : *points)
      point.value += point.seconds * 0.5 * double(kMiB);
  job.allocators = {arrow()};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::foreign) << found.headline;
  EXPECT_NE(found.headline.find("libarrow.so.2600 (mimalloc) may hold it"), std::string::npos)
      << found.headline;
}

TEST(PrivateMemory, AnIdleAllocatorIsNotBlamed) {
  Job job;
  job.beside = level(60);
  job.rss = job.anon = level(80);
  job.allocators = {{"jemalloc", "libarrow.so.2600", "je_arrow_", true, 60'000, 8192}};
  const ProcessDiagnosis found = job.diagnosis();
  EXPECT_EQ(found.verdict, Verdict::healthy) << found.headline;
  EXPECT_FALSE(found_name(found, "libarrow")) << "it counts, and holds next to nothing";
}

}  // namespace
}  // namespace ebb::keep
