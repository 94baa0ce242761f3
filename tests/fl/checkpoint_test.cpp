// SPDX-License-Identifier: Apache-2.0
#include "fl/checkpoint.h"

namespace ebb::fl {
namespace {

std::string packed() {
  const std::vector<float> weights = {1.5F, -2.0F, 3.25F};
  const std::vector<std::span<const std::byte>> arrays = {std::as_bytes(std::span(weights)), {}};
  return pack_checkpoint(base::Json::object({{"round", 7}, {"value", 0.1}}), arrays);
}

TEST(Checkpoint, ComesBackAsItWas) {
  const auto back = unpack_checkpoint(packed(), "checkpoint");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->header.find("round")->as_int(), 7);
  EXPECT_EQ(back->header.find("value")->as_double(), 0.1);
  ASSERT_EQ(back->arrays.size(), 2U);
  EXPECT_EQ(back->arrays[0].size(), 12U);
  EXPECT_TRUE(back->arrays[1].empty());
}

TEST(Checkpoint, IsRefusedWhereAnyBitDiffers) {
  const std::string good = packed();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    const auto back = unpack_checkpoint(bad, "runs/7/checkpoint");
    ASSERT_FALSE(back) << at;
    EXPECT_NE(back.error().message.find("runs/7/checkpoint"), std::string::npos);
  }
}

TEST(Checkpoint, IsRefusedWhereItIsCutOrLonger) {
  const std::string good = packed();
  for (std::size_t length = 0; length < good.size(); ++length)
    ASSERT_FALSE(unpack_checkpoint(std::string_view(good).substr(0, length), "x")) << length;
  EXPECT_FALSE(unpack_checkpoint(good + "x", "x"));
}

}  // namespace
}  // namespace ebb::fl
