// SPDX-License-Identifier: Apache-2.0
#include "show/site_view.h"

#include <gtest/gtest.h>

namespace ebb::show {
namespace {

TEST(SitesFlame, GoesFromTheProcessInwardsAndTellsPythonApart) {
  story::RunStory story;
  EXPECT_TRUE(sites_flame(story).stacks.empty());
  story::SiteStory site;
  site.process = {42, 1};
  site.frames = {{"np_new", "", 0, "/lib/numpy.so"}, {"load", "/job/loader.py", 7, ""}};
  site.bytes = 1000;
  site.growth.emplace();
  site.growth->per_second = 2;
  story.sites.sampling.emplace();
  story.sites.sites = {site, {}};
  story.sites.sites[1].process = {42, 1};
  story.sites.sites[1].bytes = 5;
  const page::FlameGraph flame = sites_flame(story);
  ASSERT_EQ(flame.stacks.size(), 2U);
  std::vector<std::string> names;
  for (const std::uint32_t frame : flame.stacks[0].frames)
    names.push_back(flame.frames.at(frame).name);
  EXPECT_EQ(names, (std::vector<std::string>{"42", "loader.py:7 load", "np_new (numpy.so)"}));
  EXPECT_EQ(flame.frames[flame.stacks[0].frames[0]].kind, page::FrameKind::root);
  EXPECT_EQ(flame.frames[flame.stacks[0].frames[1]].kind, page::FrameKind::python);
  EXPECT_EQ(flame.frames[flame.stacks[0].frames[2]].kind, page::FrameKind::native);
  EXPECT_EQ(flame.stacks[0].values, (std::vector<double>{1000, 7200}));
  EXPECT_EQ(flame.stacks[1].values, (std::vector<double>{5, 0}));
  EXPECT_EQ(flame.stacks[1].frames.size(), 2U) << "a stack that could not be read has a box too";
  EXPECT_EQ(flame.stacks[1].frames[0], flame.stacks[0].frames[0]) << "each name once";
}

}  // namespace
}  // namespace ebb::show
