// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "support/subprocess.h"
#include "trace/initial_state.h"
#include "trace/snapshot_reader.h"
#include "trace/steps.h"
#include "trace/summary.h"

namespace ebb::trace {
namespace {

std::vector<std::string> recorded_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(EBB_TORCH_TRUTH)) {
    const std::string path = entry.path();
    if (path.find("/untraced/") != std::string::npos) continue;  // no events to begin with
    if (path.ends_with(".pickle.gz") || path.ends_with(".pickle")) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::relative(info.param, EBB_TORCH_TRUTH);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Recorded : public ::testing::TestWithParam<std::string> {};

TEST_P(Recorded, HoldsWhatPythonFindsInIt) {
  const auto snapshot = read_snapshot(GetParam());
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const auto python =
      support::run({EBB_PYTHON, std::string(EBB_TOOLS) + "/snapshot_summary.py", GetParam()});
  ASSERT_EQ(python.status, 0) << python.error;
  EXPECT_EQ(summary_of(*snapshot), python.output);
  EXPECT_LE(snapshot->oldest_minor, 11);
  EXPECT_GE(snapshot->newest_minor, 11);
  EXPECT_EQ(snapshot->notes, std::vector<std::string>());
}

TEST_P(Recorded, BeginsWithNothingBeforeTheFirstEvent) {
  const auto snapshot = read_snapshot(GetParam());
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const InitialState state = initial_state(*snapshot, 0);
  EXPECT_TRUE(state.empty());
  EXPECT_EQ(state.notes, std::vector<std::string>());
}

/// Blocks in use, and memory held, after the first events of a trace that begins with nothing.
struct Forward {
  struct Use {
    std::uint64_t requested = 0;
    bool pending = false;
    friend bool operator==(const Use&, const Use&) = default;
  };
  std::map<Address, Use> live;
  std::map<Address, std::uint64_t> mapped;  ///< pages and segments, joined where they touch

  void apply(const Event& event) {
    switch (event.action) {
      case Action::alloc:
        live[event.address] = {event.size, false};
        break;
      case Action::free_requested:
        live[event.address].pending = true;
        break;
      case Action::free_completed:
        live.erase(event.address);
        break;
      case Action::segment_alloc:
      case Action::segment_map:
        for (std::uint64_t page = 0; page < event.size; page += kPage) {
          mapped[event.address + page] = kPage;
        }
        break;
      case Action::segment_free:
      case Action::segment_unmap:
        for (std::uint64_t page = 0; page < event.size; page += kPage) {
          mapped.erase(event.address + page);
        }
        break;
      default:
        break;
    }
  }
  static constexpr std::uint64_t kPage = 2 << 20;
};

TEST_P(Recorded, IsRebuiltBeforeAnyEventAtWhichItIsCut) {
  auto snapshot = read_snapshot(GetParam());
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  const std::vector<Event> whole = snapshot->traces[0];
  Forward forward;
  std::size_t done = 0;
  for (std::size_t part = 1; part <= 7; ++part) {
    const std::size_t cut = whole.size() * part / 7 - (part == 7 ? 0 : part % 3);
    for (; done < cut; ++done) {
      forward.apply(whole[done]);
    }
    snapshot->traces[0].assign(whole.begin() + static_cast<std::ptrdiff_t>(cut), whole.end());
    const InitialState state = initial_state(*snapshot, 0);
    Forward rebuilt;
    for (const Segment& segment : state.segments) {
      Address at = segment.address;
      for (const Block& block : segment.blocks) {
        EXPECT_EQ(block.address, at);
        at += block.size;
        if (block.state == BlockState::inactive) continue;
        rebuilt.live[block.address] = {block.requested,
                                       block.state == BlockState::active_pending_free};
        EXPECT_GE(block.size, block.requested);
      }
      EXPECT_EQ(at, segment.address + segment.size);
      for (std::uint64_t page = 0; page < segment.size; page += Forward::kPage) {
        rebuilt.mapped[segment.address + page] = Forward::kPage;
      }
    }
    EXPECT_EQ(rebuilt.live, forward.live) << "cut at event " << cut;
    EXPECT_EQ(rebuilt.mapped, forward.mapped) << "cut at event " << cut;
    EXPECT_EQ(state.allocated_blocks + state.pending_blocks, forward.live.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Torch, Recorded, ::testing::ValuesIn(recorded_files()), test_name);

}  // namespace
}  // namespace ebb::trace
