// SPDX-License-Identifier: Apache-2.0
#include "show/site_files.h"

#include <gtest/gtest.h>

#include "show/site_view.h"
#include "support/pprof.h"
#include "support/temporary_directory.h"

namespace ebb::show {
namespace {

story::SitesStory some_sites() {
  story::SitesStory story;
  story.sampling.emplace();
  story::SiteStory site;
  site.frames = {{"inner;", "/src/a.c", 5, "/bin/job"}, {"main", "", 0, "/bin/job"}};
  site.bytes = 12345;
  story.sites.push_back(site);
  story.sites.push_back({});
  return story;
}

TEST(SiteFiles, CollapsedStacksGoFromTheOutermostCallInwards) {
  EXPECT_EQ(collapsed_stacks(rows_of(some_sites())),
            "main (job);a.c:5 inner: 12345\na stack that could not be read 0\n");
}

TEST(SiteFiles, AProfileHasItsStacksLinesAndBytes) {
  story::SitesStory story = some_sites();
  story.sites[0].growth.emplace().per_second = 2;
  story.sites[1].growth.emplace().per_second = -1;
  const support::TemporaryDirectory folder;
  folder.write("profile", pprof_file(rows_of(story)));
  const auto profile = support::read_pprof(folder / "profile");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->types,
            (std::vector<std::string>{"live in bytes", "growth_per_hour in bytes"}));
  EXPECT_EQ(profile->shown_first, "live");
  ASSERT_EQ(profile->samples.size(), 2U);
  using Call = support::Pprof::Call;
  EXPECT_EQ(profile->samples[0].calls,
            (std::vector<Call>{{"inner;", "/src/a.c", 5}, {"main", "/bin/job", 0}}));
  EXPECT_EQ(profile->samples[0].values, (std::vector<std::uint64_t>{12345, 7200}));
  EXPECT_TRUE(profile->samples[1].calls.empty()) << "a stack that could not be read";
  EXPECT_EQ(profile->samples[1].values, (std::vector<std::uint64_t>{0, 0})) << "it shrinks";
}

}  // namespace
}  // namespace ebb::show
