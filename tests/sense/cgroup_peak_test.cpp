// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup_peak.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_directory.h"

namespace ebb::sense {
namespace {

CgroupPlace place_at(const support::TemporaryDirectory& folder, CgroupVersion version) {
  CgroupPlace place;
  place.version = version;
  place.directories = {folder / ""};
  return place;
}

TEST(CgroupPeak, IsReadInBothVersions) {
  const support::TemporaryDirectory folder;
  folder.write("memory.peak", "123456\n");
  folder.write("memory.max_usage_in_bytes", "789\n");
  EXPECT_EQ(peak_of_group(place_at(folder, CgroupVersion::v2)), 123456U);
  EXPECT_EQ(peak_of_group(place_at(folder, CgroupVersion::v1)), 789U);
}

TEST(CgroupPeak, IsNotKnownWhereTheKernelDoesNotTellIt) {
  const support::TemporaryDirectory folder;
  EXPECT_EQ(peak_of_group(place_at(folder, CgroupVersion::v2)), std::nullopt);
  EXPECT_EQ(peak_of_group({}), std::nullopt);
  folder.write("memory.peak", "much\n");
  EXPECT_EQ(peak_of_group(place_at(folder, CgroupVersion::v2)), std::nullopt);
}

TEST(CgroupPeak, ProcessesOfAGroupAreAllOfThemOrNotKnown) {
  const support::TemporaryDirectory folder;
  const CgroupPlace place = place_at(folder, CgroupVersion::v2);
  EXPECT_EQ(processes_of_group(place), std::nullopt) << "no such file";
  folder.write("cgroup.procs", "17\n4242\n");
  EXPECT_EQ(processes_of_group(place), (std::vector<pid_t>{17, 4242}));
  folder.write("cgroup.procs", "17\nx\n");
  EXPECT_EQ(processes_of_group(place), std::nullopt);
  folder.write("cgroup.procs", "17\n");
  std::filesystem::create_directory(folder / "below");
  EXPECT_EQ(processes_of_group(place), std::nullopt) << "those below are charged to it too";
}

}  // namespace
}  // namespace ebb::sense
