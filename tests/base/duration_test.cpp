// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <gtest/gtest.h>

namespace ebb::base {
namespace {

TEST(Duration, ReadsWhatPeopleWrite) {
  EXPECT_DOUBLE_EQ(parse_duration("250ms").value(), 0.25);
  EXPECT_DOUBLE_EQ(parse_duration("3").value(), 3);
  EXPECT_DOUBLE_EQ(parse_duration("1.5 s").value(), 1.5);
  EXPECT_DOUBLE_EQ(parse_duration("5m").value(), 300);
  EXPECT_DOUBLE_EQ(parse_duration("5min").value(), 300);
  EXPECT_DOUBLE_EQ(parse_duration("2h").value(), 7200);
  EXPECT_DOUBLE_EQ(parse_duration("1d").value(), 86400);
}

TEST(Duration, RefusesTheRest) {
  for (const char* bad :
       {"", "s", "0", "0s", "-1s", "1x", "1.2.3s", "1e3s", "99999999999h", "1 s s", "inf", "nan"}) {
    const auto read = parse_duration(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, Code::bad_input);
    EXPECT_NE(read.error().message.find("250ms"), std::string::npos);
  }
}

TEST(Duration, IsWrittenInTheUnitThatSuits) {
  EXPECT_EQ(duration_text(0.02), "20 ms");
  EXPECT_EQ(duration_text(15), "15.0 s");
  EXPECT_EQ(duration_text(720), "12 min");
  EXPECT_EQ(duration_text(3.2 * 3600), "3.2 h");
  EXPECT_EQ(duration_text(5 * 86400.0), "5.0 d");
}

}  // namespace
}  // namespace ebb::base
