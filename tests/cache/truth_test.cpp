// SPDX-License-Identifier: Apache-2.0
// Recorded histories of PyTorch 2.11 on a real GPU, replayed without one: no difference is allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cache/truth_replay.h"

namespace ebb::cache::truth {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  const std::filesystem::path path = std::filesystem::path(EBB_TORCH_TRUTH) / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".json.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).filename();
  name.resize(name.size() - std::string(".json.gz").size());
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

class OperationLog : public ::testing::TestWithParam<std::string> {};

TEST_P(OperationLog, EveryAddressCounterTraceEntryAndBlockIsAsRecorded) {
  const Log log = read_log("vector", GetParam());
  ASSERT_FALSE(log.operations.empty());
  Replay replay(log);
  replay.run();
  replay.expect_same_stats();
  replay.expect_same_trace();
  replay.expect_same_segments();
  replay.expect_same_pickle(GetParam());
}

class RecordedRun : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedRun, SegmentEventsAndFinalStatisticsAreAsRecorded) {
  const Log log = read_log("run", GetParam());
  ASSERT_FALSE(log.operations.empty());
  Replay replay(log);
  replay.run();
  replay.expect_same_stats();
  replay.expect_same_events();
  replay.expect_same_trace();
  replay.expect_same_segments();
  replay.expect_same_message();
  replay.expect_same_pickle(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Torch, OperationLog, ::testing::ValuesIn(files_in("vectors")), test_name);
INSTANTIATE_TEST_SUITE_P(Torch, RecordedRun, ::testing::ValuesIn(files_in("runs")), test_name);

}  // namespace
}  // namespace ebb::cache::truth
