// SPDX-License-Identifier: Apache-2.0
#include "trace/steps.h"

#include <gtest/gtest.h>

#include "trace/snapshot_reader.h"

namespace ebb::trace {
namespace {

using Begins = std::vector<std::size_t>;

/// Allocations of these sizes, one per 10 µs from time 1000 on.
Snapshot requests(const std::vector<std::uint64_t>& sizes) {
  Snapshot snapshot;
  snapshot.has_times = true;
  snapshot.traces.emplace_back();
  for (const std::uint64_t size : sizes) {
    Event event;
    event.size = size;
    event.time_us = 1000 + 10 * static_cast<std::int64_t>(snapshot.traces[0].size());
    snapshot.traces[0].push_back(event);
  }
  return snapshot;
}

void annotate(Snapshot& snapshot, const std::string& name, std::int64_t from, std::int64_t to) {
  snapshot.annotations.push_back({name, true, 0, from});
  snapshot.annotations.push_back({name, false, 0, to});
}

/// Sizes that never repeat.
std::vector<std::uint64_t> various(std::size_t count) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < count; ++i) {
    sizes.push_back(1 + i * i);
  }
  return sizes;
}

TEST(Steps, BeginWhereTheProfilerSaysSo) {
  Snapshot snapshot = requests(various(100));
  for (int i = 0; i < 4; ++i) {
    annotate(snapshot, "ProfilerStep#" + std::to_string(i), 1000 + 200 * i, 1190 + 200 * i);
  }
  for (int i = 0; i < 8; ++i) {
    annotate(snapshot, "Optimizer.step#Adam.step", 1050 + 100 * i, 1060 + 100 * i);
  }
  const Steps steps = find_steps(snapshot, 0);
  EXPECT_EQ(steps.source, Steps::Source::annotations);
  EXPECT_EQ(steps.name, "ProfilerStep#");
  EXPECT_EQ(steps.begins, (Begins{0, 20, 40, 60}));
  EXPECT_EQ(steps.note, "4 steps, each begins with the range 'ProfilerStep#'");
}

TEST(Steps, BeginWithTheOutermostRangeThatRepeats) {
  Snapshot snapshot = requests(various(100));
  snapshot.annotations.push_back({"everything", true, 0, 1000});
  for (int i = 0; i < 3; ++i) {
    snapshot.annotations.push_back({"round " + std::to_string(i), true, 0, 1100 + 200 * i});
    for (int j = 0; j < 4; ++j) {
      annotate(snapshot, "layer", 1110 + 200 * i + 20 * j, 1120 + 200 * i + 20 * j);
    }
    snapshot.annotations.push_back({"round " + std::to_string(i), false, 0, 1250 + 200 * i});
  }
  const Steps steps = find_steps(snapshot, 0);
  EXPECT_EQ(steps.name, "round ");
  EXPECT_EQ(steps.begins, (Begins{10, 30, 50}));
}

TEST(Steps, OfARingBufferBeginWithinIt) {
  Snapshot snapshot = requests(various(50));
  for (int i = 0; i < 8; ++i) {
    annotate(snapshot, "step", 100 + 200 * i, 200 + 200 * i);
  }
  const Steps steps = find_steps(snapshot, 0);
  EXPECT_EQ(steps.begins, (Begins{0, 10, 30})) << "the first is what is left of an earlier step";
}

TEST(Steps, OfAnotherDeviceDoNotCount) {
  Snapshot snapshot = requests(various(50));
  for (int i = 0; i < 5; ++i) {
    annotate(snapshot, "step", 1000 + 50 * i, 1040 + 50 * i);
  }
  for (Annotation& annotation : snapshot.annotations) {
    annotation.device = 1;
  }
  EXPECT_EQ(find_steps(snapshot, 0).source, Steps::Source::none);
}

TEST(Steps, AreFoundByRequestSizesThatRepeat) {
  std::vector<std::uint64_t> sizes = various(40);  // setting up
  for (int step = 0; step < 6; ++step) {
    for (int layer = 0; layer < 5; ++layer) {
      for (const std::uint64_t size : {100U, 200U, 300U, 400U, 500U, 600U, 700U, 800U, 900U}) {
        sizes.push_back(size);
      }
    }
    for (std::uint64_t size = 2000; size < 2020; ++size) {
      sizes.push_back(size);  // the optimizer
    }
  }
  const Steps steps = find_steps(requests(sizes), 0);
  EXPECT_EQ(steps.source, Steps::Source::request_sizes);
  ASSERT_EQ(steps.begins.size(), 6U) << steps.note;
  for (std::size_t i = 1; i < steps.begins.size(); ++i) {
    EXPECT_EQ(steps.begins[i] - steps.begins[i - 1], 65U);
  }
}

TEST(Steps, AreNotInventedWhereNothingRepeats) {
  const Steps steps = find_steps(requests(various(1000)), 0);
  EXPECT_EQ(steps.source, Steps::Source::none);
  EXPECT_TRUE(steps.begins.empty());
  EXPECT_EQ(steps.note,
            "no steps: no named range repeats three times, and no order of request sizes evenly");
  EXPECT_EQ(find_steps(Snapshot{}, 0).note, "no steps: the device has no events");
}

TEST(Steps, OfARealTrainingAreAboutTheSameEitherWay) {
  auto snapshot =
      read_snapshot(std::string(EBB_TEST_DATA) + "/torch-2.11/runs/gpt2_varlen.captight.pickle.gz");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const Steps named = find_steps(*snapshot, 0);
  EXPECT_EQ(named.name, "Optimizer.step#AdamW.step");
  snapshot->annotations.clear();
  const Steps found = find_steps(*snapshot, 0);
  EXPECT_EQ(found.source, Steps::Source::request_sizes);
  ASSERT_EQ(found.begins.size(), named.begins.size() + 1) << "setting up asks for the weights too";
  for (std::size_t i = 0; i + 1 < named.begins.size(); ++i) {
    const auto inside = std::count_if(found.begins.begin(), found.begins.end(), [&](std::size_t b) {
      return b >= named.begins[i] && b < named.begins[i + 1];
    });
    EXPECT_EQ(inside, 1) << "step " << i;
  }
}

}  // namespace
}  // namespace ebb::trace
