// SPDX-License-Identifier: Apache-2.0
#include "show/site_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ebb::show {
namespace {

const fact::SiteFrame kLoadBatch = {"load", "/job/loader.py", 42, ""};
const fact::SiteFrame kEpoch = {"epoch", "/job/train.py", 7, ""};
const fact::SiteFrame kCheck = {"check", "/job/train.py", 9, ""};
const fact::SiteFrame kMain = {"<module>", "/job/train.py", 99, ""};
const fact::SiteFrame kOnes = {"ones", "/v/site-packages/numpy/numeric.py", 205, ""};
const fact::SiteFrame kArray = {"array", "/v/site-packages/numpy/core.py", 3, ""};

SiteRow row(fact::SiteStack frames, std::uint64_t bytes, double share) {
  SiteRow made;
  made.holder = "42";
  made.frames = std::move(frames);
  made.bytes = bytes;
  made.share = share;
  return made;
}

TEST(SiteRows, AtOneLineAreOneWithTheCallersThatTheyShare) {
  SiteRows sites;
  sites.rows = {row({kOnes, kLoadBatch, kEpoch, kMain}, 30 << 20, 0.3),
                row({kArray, kLoadBatch, kEpoch, kMain}, 20 << 20, 0.2)};
  sites.rows[0].growth = 2 << 20;
  sites.rows[0].growth_share = 0.5;
  sites.rows[0].since = 7;
  sites.rows[1].growth = 1 << 20;
  sites.rows[1].growth_share = 0.25;
  sites.rows[1].since = 3;
  EXPECT_EQ(rows_text(sites, 11),
            "grew by          +3.0 MiB/min   75 %  loader.py:42 load < train.py:7 epoch < "
            "train.py:99 <module>, since 3.0 s\n"
            "held by          50.0 MiB       50 %  loader.py:42 load < train.py:7 epoch < "
            "train.py:99 <module>, since 3.0 s\n");
}

TEST(SiteRows, WithOtherCallersSaySo) {
  SiteRows sites;
  sites.rows = {row({kOnes, kLoadBatch, kEpoch, kMain}, 30 << 20, 0.3),
                row({kOnes, kLoadBatch, kCheck, kMain}, 20 << 20, 0.2)};
  EXPECT_EQ(rows_text(sites, 11),
            "held by          50.0 MiB       50 %  loader.py:42 load (in numeric.py:205 ones) < "
            "several callers\n");
}

TEST(SiteRows, OfSeveralHoldersStayApart) {
  SiteRows sites;
  sites.rows = {row({kLoadBatch}, 20 << 20, 1), row({kLoadBatch}, 30 << 20, 1)};
  sites.rows[1].holder = "43";
  EXPECT_EQ(rows_text(sites, 11),
            "held by         43        30.0 MiB      100 %  loader.py:42 load\n"
            "                42        20.0 MiB      100 %  loader.py:42 load\n");
}

TEST(SiteRows, ShowTheFewThatHoldMostAndNoCallOfPyTorchAmongTheCallers) {
  SiteRows sites;
  for (std::uint32_t line = 1; line <= 9; ++line)
    sites.rows.push_back(row({{"f", "/job/a.py", line, ""}}, line, 0));
  const std::string text = rows_text(sites, 11);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_NE(text.find("a.py:9 f"), std::string::npos);
  EXPECT_EQ(text.find("a.py:4 f"), std::string::npos);
  const fact::SiteFrame module = {"_call_impl", "/v/site-packages/torch/nn/module.py", 1790, ""};
  sites.rows = {row({kLoadBatch, module, module, kMain}, 1, 0)};
  EXPECT_NE(rows_text(sites, 11).find("load < train.py:99 <module>\n"), std::string::npos);
}

}  // namespace
}  // namespace ebb::show
