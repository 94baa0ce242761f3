// SPDX-License-Identifier: Apache-2.0
#include "show/site_files.h"

#include <gtest/gtest.h>

#include "pack/byte_source.h"
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
  EXPECT_EQ(collapsed_stacks(some_sites()),
            "main (job);a.c:5 inner: 12345\na stack that could not be read 0\n");
}

TEST(SiteFiles, AProfileIsAGzipFileWithItsStrings) {
  const support::TemporaryDirectory folder;
  folder.write("profile", pprof_file(some_sites()));
  const auto source = pack::open_source(folder / "profile");
  ASSERT_TRUE(source) << source.error().message;
  std::string profile(1 << 16, '\0');
  const auto got = (*source)->read(profile.data(), profile.size());
  ASSERT_TRUE(got) << got.error().message;
  profile.resize(*got);
  for (const char* text : {"live", "bytes", "growth", "inner;", "main", "/src/a.c", "/bin/job"})
    EXPECT_NE(profile.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace ebb::show
