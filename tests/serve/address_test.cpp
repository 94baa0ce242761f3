// SPDX-License-Identifier: Apache-2.0
#include "serve/address.h"

#include <gtest/gtest.h>

namespace ebb::serve {
namespace {

TEST(Address, IsAnAddressWithAPort) {
  const auto where = [](const char* text) {
    const auto found = address_from(text, "--metrics");
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->text() : "";
  };
  EXPECT_EQ(where("0.0.0.0:7322"), "0.0.0.0:7322");
  EXPECT_EQ(where("[::1]:80"), "[::1]:80");
  EXPECT_EQ(where("localhost:0"), "127.0.0.1:0");
  EXPECT_EQ(where("65535"), "127.0.0.1:65535");
  EXPECT_EQ(address_from("[fd00::1]:80", "--listen")->host_text(), "[fd00::1]");
  EXPECT_EQ(address_from("10.0.0.1:80", "--listen")->host_text(), "10.0.0.1");
}

TEST(Address, KnowsWhetherOthersCanReachIt) {
  const auto is_loopback = [](const char* text) {
    return address_from(text, "--metrics")->is_loopback();
  };
  EXPECT_TRUE(is_loopback("127.0.0.1:1"));
  EXPECT_TRUE(is_loopback("127.8.0.1:1"));
  EXPECT_TRUE(is_loopback("[::1]:1"));
  EXPECT_FALSE(is_loopback("0.0.0.0:1"));
  EXPECT_FALSE(is_loopback("[::]:1"));
  EXPECT_FALSE(is_loopback("10.0.0.1:1"));
}

TEST(Address, RefusesEverythingElse) {
  for (const char* text :
       {"", ":", ":80", "x:80", "example.com:80", "::1:80", "[::1]", "[127.0.0.1]:80", "127.0.0.1",
        "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8x", "1.2.3:80", "[]:80",
        "127.0.0.1:80:80"}) {
    const auto found = address_from(text, "--metrics");
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, base::Code::bad_input);
    EXPECT_EQ(
        found.error().message.find("--metrics '" + std::string(text) + "': expected ADDRESS:PORT"),
        0U)
        << found.error().message;
  }
}

}  // namespace
}  // namespace ebb::serve
