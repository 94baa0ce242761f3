// SPDX-License-Identifier: Apache-2.0
#include "show/device_site_view.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/bytes.h"
#include "support/pprof.h"
#include "support/temporary_directory.h"

namespace ebb::show {
namespace {

using replay::DeviceHolder;
using Kind = DeviceHolder::Kind;

const fact::SiteStack kStepCalls = {{"step", "/job/train.py", 42, ""},
                                    {"<module>", "/job/train.py", 99, ""}};
const fact::SiteStack kLoadCalls = {{"load", "/job/train.py", 7, ""}};

replay::DeviceSites sites_of_a_device() {
  replay::DeviceSites sites;
  sites.has_stacks = true;
  sites.at = replay::HeldAt::failure;
  sites.live = {100 * base::kMiB, 9};
  sites.no_stack = {10 * base::kMiB, 1};
  sites.before_history = {20 * base::kMiB, 2};
  replay::DeviceSite step{kStepCalls, false, {40 * base::kMiB, 4}, 0.4, 1.5, replay::StepGrowth{}};
  step.growth->per_step = 5 * base::kMiB;
  step.growth->share = 0.96;
  sites.sites = {step, {kLoadCalls, true, {30 * base::kMiB, 2}, 0.3, 0.0, std::nullopt}};
  sites.moments = {0, 50};
  sites.holders = {
      {Kind::place, kStepCalls, 40 * base::kMiB, 5.0 * base::kMiB, {0, 40 * base::kMiB}},
      {Kind::place, kLoadCalls, 30 * base::kMiB, 0, {30 * base::kMiB, 30 * base::kMiB}},
      {Kind::no_stack, {}, 10 * base::kMiB, 0, {0, 10 * base::kMiB}},
      {Kind::before_history, {}, 20 * base::kMiB, 0, {20 * base::kMiB, 20 * base::kMiB}}};
  return sites;
}

TEST(DeviceSitesText, HasTheWordsOfOtherSitesAndCountsWhatHasNoLine) {
  EXPECT_EQ(device_sites_text(sites_of_a_device(), 12),
            "grew by           +5.0 MiB/step   96 %  train.py:42 step < train.py:99 <module>, "
            "since 1.5 s\n"
            "held by           40.0 MiB        40 %  train.py:42 step < train.py:99 <module>, "
            "since 1.5 s\n"
            "                  30.0 MiB        30 %  train.py:7 load < several callers\n"
            "live        100.0 MiB in 9 blocks when the request failed; 10.0 MiB in 1 block "
            "without a stack; 20.0 MiB in 2 blocks from before the history\n");
  EXPECT_EQ(device_sites_text({}, 12), "") << "no stack was recorded";
}

TEST(DeviceSitesFlame, AddsUpToAllThatIsLiveAndHasItsMoments) {
  const page::FlameGraph flame = device_sites_flame(sites_of_a_device(), 3);
  ASSERT_EQ(flame.stacks.size(), 4U);
  std::vector<std::string> names;
  for (const std::uint32_t frame : flame.stacks[0].frames)
    names.push_back(flame.frames[frame].name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"device 3", "train.py:99 <module>", "train.py:42 step"}));
  EXPECT_EQ(flame.stacks[0].values, (std::vector<double>{40.0 * base::kMiB, 5.0 * base::kMiB}));
  EXPECT_EQ(flame.stacks[0].held, (std::vector<double>{0, 40.0 * base::kMiB}));
  EXPECT_EQ(flame.frames[flame.stacks[2].frames.back()].name, "no stack recorded");
  EXPECT_EQ(flame.frames[flame.stacks[3].frames.back()].name, "before the history");
  EXPECT_EQ(flame.frames[flame.stacks[3].frames.back()].kind, page::FrameKind::root) << "no call";
  double live = 0;
  for (const page::FlameStack& stack : flame.stacks)
    live += stack.values[0];
  EXPECT_EQ(live, 100.0 * base::kMiB);
  EXPECT_EQ(flame.moments, (std::vector<double>{0, 50}));
  EXPECT_EQ(flame.moments_unit, page::Unit::count);
  EXPECT_EQ(flame.moments_name, "allocations and frees");
  EXPECT_TRUE(device_sites_flame({}, 0).stacks.empty());
}

TEST(DeviceSiteFiles, HaveTheStacksOfAllDevicesAndNothingElse) {
  std::vector<replay::SnapshotDiagnosis> diagnoses(2);
  diagnoses[0].sites = sites_of_a_device();
  diagnoses[1].sites.has_stacks = true;
  diagnoses[1].sites.holders = {{Kind::place, kLoadCalls, base::kMiB, 0, {}},
                                {Kind::place, kStepCalls, 0, 0, {9}}};
  const support::TemporaryDirectory folder;
  const std::string stacks = folder / "stacks.txt";
  const std::string profile = folder / "profile";
  ASSERT_TRUE(write_site_files(diagnoses, "a.pickle", profile, stacks));
  std::ifstream file(stacks);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "train.py:99 <module>;train.py:42 step 41943040\n"
            "train.py:7 load 31457280\n"
            "train.py:7 load 1048576\n");
  const auto read = support::read_pprof(profile);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->types, (std::vector<std::string>{"live in bytes", "growth_per_step in bytes"}));
  ASSERT_EQ(read->samples.size(), 3U);
  EXPECT_EQ(read->samples[0].values, (std::vector<std::uint64_t>{40 * base::kMiB, 5 * base::kMiB}));
}

TEST(DeviceSiteFiles, AreRefusedWhereNoStackWasRecorded) {
  const auto refused = write_site_files({replay::SnapshotDiagnosis()}, "a.pickle", "p", "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::bad_input);
  EXPECT_TRUE(refused.error().message.starts_with("a.pickle: no stacks were recorded"));
  EXPECT_TRUE(write_site_files({replay::SnapshotDiagnosis()}, "a.pickle", "", "")) << "none asked";
}

}  // namespace
}  // namespace ebb::show
