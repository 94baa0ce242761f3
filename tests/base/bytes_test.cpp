// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace ebb::base {
namespace {

TEST(BytesText, PicksTheUnitAPersonWouldPick) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(24 * kGiB), "24.0 GiB");
  EXPECT_EQ(bytes_text(kMiB - 1), "1.0 MiB") << "never 1024.0 KiB";
  EXPECT_EQ(bytes_text(std::numeric_limits<std::uint64_t>::max()), "16777216.0 TiB");
}

TEST(BytesText, SignsDifferences) {
  EXPECT_EQ(signed_bytes_text(-1536), "-1.5 KiB");
  EXPECT_EQ(signed_bytes_text(1536), "+1.5 KiB");
  EXPECT_EQ(signed_bytes_text(std::numeric_limits<std::int64_t>::min()), "-8388608.0 TiB");
}

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse_bytes("4096"), 4096U);
  EXPECT_EQ(*parse_bytes("24GiB"), 24 * kGiB);
  EXPECT_EQ(*parse_bytes("1.5 MiB"), 3 * kMiB / 2);
  EXPECT_EQ(*parse_bytes("80GB"), 80'000'000'000U);
  EXPECT_EQ(*parse_bytes("2g"), 2 * kGiB);
  EXPECT_EQ(*parse_bytes("9007199254740993"), 9007199254740993U) << "exact beyond a double";
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* bad : {"", "GiB", "-1", "1.2.3MiB", "12 parsecs", "1e3", "nan", "99999999TiB",
                          "18446744073709551616", "1.5"}) {
    const auto result = parse_bytes(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, Code::bad_input);
    EXPECT_NE(result.error().message.find("is not a size"), std::string::npos);
  }
}

}  // namespace
}  // namespace ebb::base
