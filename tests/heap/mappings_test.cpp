// SPDX-License-Identifier: Apache-2.0
#include "heap/mappings.h"

#include <gtest/gtest.h>

namespace ebb::heap {
namespace {

TEST(Mappings, ReadsWhatTheKernelWrites) {
  const auto mappings = parse_mappings(
      "55d0a0000000-55d0a0021000 rw-p 00000000 00:00 0                          [heap]\n"
      "7f0000000000-7f0000001000 r-xs 00002000 08:01 1234                       /a dir/with space\n"
      "7f0000001000-7f0000002000 ---p 00000000 00:00 0 \n");
  ASSERT_TRUE(mappings) << mappings.error().message;
  ASSERT_EQ(mappings->size(), 3U);
  EXPECT_EQ((*mappings)[0].name, "[heap]");
  EXPECT_EQ((*mappings)[0].size(), 0x21000U);
  EXPECT_TRUE((*mappings)[0].writable);
  EXPECT_EQ((*mappings)[1].name, "/a dir/with space");
  EXPECT_EQ((*mappings)[1].inode, 1234U);
  EXPECT_TRUE((*mappings)[1].executable && (*mappings)[1].shared);
  EXPECT_FALSE((*mappings)[2].readable);
  EXPECT_EQ((*mappings)[2].name, "");
}

TEST(Mappings, ReadsThisProcess) {
  const auto mappings = read_mappings("/proc/self/maps");
  ASSERT_TRUE(mappings);
  EXPECT_GT(mappings->size(), 10U);
}

TEST(Mappings, NamesTheLineThatIsNotOne) {
  for (const char* bad : {"garbage", "12-34 rw-p", "zz-34 rw-p 0 0:0 0", "34-12 rw-p 0 0:0 0",
                          "12-34 rw 0 0:0 0", "12-34 rw-p 0 0:0 x"}) {
    const auto result = parse_mappings(std::string("1-2 r--p 0 0:0 0\n") + bad + "\n");
    ASSERT_FALSE(result) << bad;
    EXPECT_NE(result.error().message.find("line 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace ebb::heap
