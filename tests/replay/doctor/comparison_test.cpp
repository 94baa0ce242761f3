// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/comparison.h"

#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

/// A snapshot in which the places hold so much: (place, bytes).
trace::Snapshot holding(const std::vector<std::pair<std::string, std::uint64_t>>& places,
                        int device = 0) {
  trace::Snapshot snapshot;
  snapshot.traces.resize(static_cast<std::size_t>(device) + 1);
  trace::Segment segment;
  segment.device = device;
  for (const auto& [place, bytes] : places) {
    const auto index = static_cast<trace::Index>(snapshot.texts.size());
    snapshot.texts.push_back(place);
    snapshot.frames.push_back({index, index, 1});
    snapshot.stacks.push_back({index});
    segment.blocks.push_back(
        {segment.size, bytes, bytes, index, trace::BlockState::active_allocated});
    segment.size += bytes;
  }
  segment.blocks.push_back({segment.size, kMiB, 0, trace::kNone, trace::BlockState::inactive});
  segment.size += kMiB;
  snapshot.segments.push_back(segment);
  return snapshot;
}

TEST(Comparison, NamesWhatGrewMostFirst) {
  const Comparison found =
      compare(holding({{"a.py", 30 * kMiB}, {"b.py", 90 * kMiB}, {"c.py", 5 * kMiB}}),
              holding({{"a.py", 20 * kMiB}, {"b.py", 10 * kMiB}, {"d.py", 25 * kMiB}}));
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.headline, "70.0 MiB more are live, most of it b.py:1 b.py (+80.0 MiB)");
  EXPECT_EQ(found.reserved_here, 126 * kMiB);
  ASSERT_EQ(found.changes.size(), 4U);
  EXPECT_EQ(found.changes[0].frames, std::vector<std::string>{"b.py:1 b.py"});
  EXPECT_EQ(found.changes[0].growth(), static_cast<std::int64_t>(80 * kMiB));
  EXPECT_EQ(found.changes[0].blocks, 0);
  EXPECT_EQ(found.changes[2].blocks, 1) << "new";
  EXPECT_EQ(found.changes[3].growth(), -static_cast<std::int64_t>(25 * kMiB));
}

TEST(Comparison, CallsNoiseHealthy) {
  const trace::Snapshot before = holding({{"a.py", 1000 * kMiB}});
  EXPECT_EQ(compare(before, before).verdict, Verdict::healthy);
  EXPECT_TRUE(compare(before, before).changes.empty());
  EXPECT_EQ(compare(holding({{"a.py", 1010 * kMiB}}), before).verdict, Verdict::healthy) << "1 %";
  EXPECT_EQ(compare(holding({{"a.py", 1011 * kMiB}}), before).verdict, Verdict::leak);
  EXPECT_EQ(compare(holding({{"a.py", 2 * kMiB}}), holding({{"a.py", kMiB}})).verdict,
            Verdict::healthy)
      << "1 MiB";
  EXPECT_EQ(compare(holding({{"a.py", 10 * kMiB}}), before).verdict, Verdict::healthy) << "less";
}

TEST(Comparison, MayBeOfOneDeviceOnly) {
  trace::Snapshot here = holding({{"a.py", 50 * kMiB}});
  const trace::Snapshot other = holding({{"b.py", 70 * kMiB}}, 1);
  here.segments.push_back(other.segments.front());
  here.traces.resize(2);
  const trace::Snapshot there = holding({{"a.py", 50 * kMiB}});
  EXPECT_EQ(compare(here, there).verdict, Verdict::leak);
  EXPECT_EQ(compare(here, there, 0).verdict, Verdict::healthy);
  EXPECT_EQ(compare(here, there, 1).verdict, Verdict::leak);
}

TEST(Comparison, OfSnapshotsWithoutStacksGoesBySize) {
  Patient before;
  before.take(10 * kMiB);
  Patient now;
  now.take_all(3, 10 * kMiB);
  const Comparison found = compare(now.snapshot(), before.snapshot());
  EXPECT_EQ(found.verdict, Verdict::leak);
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes[0].frames,
            std::vector<std::string>{"blocks of 10.0 MiB (no stack recorded)"});
  EXPECT_EQ(found.changes[0].blocks, 2);
}

}  // namespace
}  // namespace ebb::replay
