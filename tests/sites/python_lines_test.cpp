// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "sites/python_frames.h"

namespace ebb::sites {
namespace {

std::uint32_t line(LineTable kind, const std::vector<unsigned char>& table, std::uint64_t offset) {
  return line_at(kind, table.data(), table.size(), 10, offset);
}

TEST(PythonLines, PairsOfBytesAndLines) {
  // Four bytes of line 10, then line 12, then back to 11.
  const std::vector<unsigned char> table{4, 2, 6, 0xFF};
  EXPECT_EQ(line(LineTable::pairs, table, 0), 10U);
  EXPECT_EQ(line(LineTable::pairs, table, 4), 12U);
  EXPECT_EQ(line(LineTable::pairs, table, 9), 12U);
  EXPECT_EQ(line(LineTable::pairs, table, 10), 11U);
}

TEST(PythonLines, RangesWithInstructionsThatHaveNoLine) {
  const std::vector<unsigned char> table{4, 1, 2, 0x80, 6, 3};
  EXPECT_EQ(line(LineTable::ranges, table, 2), 11U);
  EXPECT_EQ(line(LineTable::ranges, table, 4), 11U);
  EXPECT_EQ(line(LineTable::ranges, table, 8), 14U);
  EXPECT_EQ(line(LineTable::ranges, table, 100), 10U);
}

TEST(PythonLines, LocationsOfEveryForm) {
  const std::vector<unsigned char> table{
      0x80 | 0 << 3 | 1,  0,           // short: two units, the same line
      0x80 | 11 << 3 | 0, 1, 2,        // one line on
      0x80 | 13 << 3 | 0, 4,           // two lines on
      0x80 | 14 << 3 | 0, 3, 0, 1, 1,  // one back
      0x80 | 15 << 3 | 0,              // no location
  };
  EXPECT_EQ(line(LineTable::locations, table, 2), 10U);
  EXPECT_EQ(line(LineTable::locations, table, 4), 11U);
  EXPECT_EQ(line(LineTable::locations, table, 6), 13U);
  EXPECT_EQ(line(LineTable::locations, table, 8), 12U);
  EXPECT_EQ(line(LineTable::locations, table, 10), 12U);
}

TEST(PythonLines, AnyBytesAreReadWithoutHarm) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<unsigned char> table(random() % 40);
    for (unsigned char& byte : table)
      byte = static_cast<unsigned char>(random());
    for (const LineTable kind : {LineTable::pairs, LineTable::ranges, LineTable::locations})
      static_cast<void>(line(kind, table, random() % 500));
  }
}

}  // namespace
}  // namespace ebb::sites
