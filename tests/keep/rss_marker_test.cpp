// SPDX-License-Identifier: Apache-2.0
#include "keep/rss_marker.h"

#include <gtest/gtest.h>

namespace ebb::keep {
namespace {

constexpr std::uint64_t kRss = 150'155'469;  // 143.2 of NVFlare's MB, which are MiB

TEST(RssMarker, IsNvflaresLineToTheLetter) {
  EXPECT_EQ(rss_marker(MarkerSource::client_api, "site-1", 3, "recv", kRss),
            "[RSS] CA s=site-1 r=3 recv: 143.2 MB");
  EXPECT_EQ(rss_marker(MarkerSource::client_job, "site-1", 0, "relay", kRss, "train"),
            "[RSS] CJ s=site-1 t=train r=0 relay: 143.2 MB");
  EXPECT_EQ(rss_marker(MarkerSource::server, "server", 7, "aggregate", kRss, "ignored"),
            "[RSS] SV s=server r=7 aggregate: 143.2 MB");
}

TEST(RssMarker, ARoundThatIsNotKnownIsNone) {
  EXPECT_EQ(rss_marker(MarkerSource::client_api, "site-1", std::nullopt, "send", 0),
            "[RSS] CA s=site-1 r=None send: 0.0 MB");
}

TEST(RssMarker, SourcesHaveLetters) {
  for (const MarkerSource source :
       {MarkerSource::client_api, MarkerSource::client_job, MarkerSource::server})
    EXPECT_EQ(*marker_source_from(name_of(source)), source);
  EXPECT_FALSE(marker_source_from("ca"));
}

}  // namespace
}  // namespace ebb::keep
