// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/spill.h"

#include "sense/process.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

TEST(Spill, KeepsItsValuesOutsideOfTheProcess) {
  constexpr std::size_t kCount = 16 << 20;  // 64 MiB
  auto spill = Spill::create("", kCount);
  ASSERT_TRUE(spill) << spill.error().message;
  const std::uint64_t before = *sense::read_rss_fast();
  for (std::size_t i = 0; i < kCount; i += kCount / 16) {
    for (std::size_t at = i; at < i + kCount / 16; ++at)
      spill->values()[at] = static_cast<float>(at);
    spill->write_out(i, kCount / 16);
  }
  EXPECT_LT(*sense::read_rss_fast(), before + (16U << 20));
  for (std::size_t at = 0; at < kCount; at += 4097)
    ASSERT_EQ(spill->values()[at], static_cast<float>(at));
  spill->release();
  EXPECT_LT(*sense::read_rss_fast(), before + (8U << 20));
}

TEST(Spill, LeavesNoFile) {
  const support::TemporaryDirectory folder;
  {
    const auto spill = Spill::create(folder.path(), 100);
    ASSERT_TRUE(spill);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(Spill, SaysWhereThereIsNoRoom) {
  const auto spill = Spill::create("", std::size_t{1} << 55);
  ASSERT_FALSE(spill);
  EXPECT_NE(spill.error().message.find("no room"), std::string::npos) << spill.error().message;
}

}  // namespace
}  // namespace ebb::fl
