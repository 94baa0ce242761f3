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

TEST(SitesFlame, HasWhatStacksHeldOverTimeAlsoOfThoseThatHoldNothingNow) {
  story::RunStory story;
  story.sites.sampling.emplace();
  story.sites.sites.resize(1);
  story.sites.sites[0].process = {42, 1};
  story.sites.sites[0].frames = {{"load", "/job/loader.py", 7, ""}};
  story.sites.sites[0].bytes = 1000;
  const story::SiteHistory history{{1, 2.5},
                                   {{{42, 1}, {{"burst", "/job/loader.py", 9, ""}}, {9000, 0}},
                                    {{42, 1}, story.sites.sites[0].frames, {10, 1000}}}};
  const page::FlameGraph flame = sites_flame(story, history);
  EXPECT_EQ(flame.moments, (std::vector<double>{1, 2.5}));
  ASSERT_EQ(flame.stacks.size(), 2U);
  EXPECT_EQ(flame.stacks[0].held, (std::vector<double>{10, 1000}));
  EXPECT_EQ(flame.stacks[1].held, (std::vector<double>{9000, 0}));
  EXPECT_EQ(flame.stacks[1].values, (std::vector<double>{0, 0}));
  const story::SiteHistory once{{1}, {{{42, 1}, story.sites.sites[0].frames, {10}}}};
  EXPECT_TRUE(sites_flame(story, once).moments.empty()) << "nothing to compare with";
}

TEST(SitesText, SaysWhatGrewWhatHoldsAndSinceWhen) {
  story::RunStory story;
  EXPECT_EQ(sites_text(story), "") << "allocations were not sampled";
  story.sites.sampling.emplace();
  story.sites.sampling->processes = 2;
  story.sites.sampling->samples = 90;
  story.sites.sampling->spent_seconds = 0.038;
  story.sites.sampling->no_python = 3;
  story.sites.sampling->no_room = 4;
  story::SiteStory leak;
  leak.process = {42, 1};
  leak.frames = {{"load_batch", "/job/loader.py", 42, ""}, {"main", "/job/train.py", 7, ""}};
  leak.bytes = 30 << 20;
  leak.share = 0.25;
  leak.since = 12;
  leak.growth.emplace();
  leak.growth->per_second = 1 << 20;
  leak.growth_share = 0.96;
  story::SiteStory cache;
  cache.process = {42, 1};
  cache.frames = {{"fill", "/job/cache.py", 3, ""}};
  cache.bytes = 90 << 20;
  cache.share = 0.75;
  cache.since = 0.5;
  story.sites.sites = {leak, cache};
  EXPECT_EQ(
      sites_text(story),
      "grew by         +60.0 MiB/min   96 %  loader.py:42 load_batch < train.py:7 main, since "
      "12.0 s\n"
      "held by          90.0 MiB       75 %  cache.py:3 fill, since 500 ms\n"
      "                 30.0 MiB       25 %  loader.py:42 load_batch < train.py:7 main, since "
      "12.0 s\n"
      "sampled    90 allocations of 2 processes, for 38 ms; 3 without Python's lines: its "
      "interpreter is not read; 4 more processes had no room for a table\n");
}

}  // namespace
}  // namespace ebb::show
