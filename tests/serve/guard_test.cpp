// SPDX-License-Identifier: Apache-2.0
#include "serve/guard.h"

#include <gtest/gtest.h>

namespace ebb::serve {
namespace {

Request from(const std::string& host) {
  Request request;
  request.path = "/";
  request.host = host;
  return request;
}

int status_of(const std::optional<Answer>& answer) {
  return answer ? answer->status : 200;
}

TEST(Guard, KnowsTheNamesOfThisMachineWithAnyPort) {
  const Guard guard("", {"node7", "proxy.example"});
  for (const char* host : {"localhost", "localhost:7322", "127.0.0.1:1", "127.0.0.1", "[::1]",
                           "[::1]:80", "node7:9999", "proxy.example"})
    EXPECT_FALSE(guard.check(from(host), "/")) << host;
}

TEST(Guard, RefusesNamesThatABrowserWasLedHereBy) {
  const Guard guard("", {"node7"});
  for (const char* host :
       {"", "evil.example", "evil.example:7322", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example:80@localhost", "node7.evil.example", "LOCALHOST.", "[::2]:80", ":80", "::1"})
    EXPECT_EQ(status_of(guard.check(from(host), "/")), 403) << host;
}

TEST(Guard, RefusesPagesFromElsewhere) {
  const Guard guard("", {});
  Request request = from("localhost:7322");
  for (const char* origin :
       {"http://evil.example", "null", "http://localhost", "http://localhost:7323"}) {
    request.origin = origin;
    EXPECT_EQ(status_of(guard.check(request, "/")), 403) << origin;
  }
  for (const char* origin : {"http://localhost:7322", "https://localhost:7322"}) {
    request.origin = origin;
    EXPECT_FALSE(guard.check(request, "/")) << origin;
  }
}

TEST(Guard, AsksForTheTokenAndKeepsItAsACookie) {
  const Guard guard("abc123", {"10.0.0.5"});
  Request request = from("10.0.0.5:7322");
  EXPECT_EQ(status_of(guard.check(request, "/")), 401);
  request.query = "x=1&token=abc123";
  const auto moved = guard.check(request, "/ebb/");
  ASSERT_EQ(status_of(moved), 303);
  EXPECT_EQ(moved->headers[0].second, "/ebb/");
  EXPECT_EQ(moved->headers[1].second, "ebb_token=abc123; Path=/ebb/; HttpOnly; SameSite=Strict");
  request.query.clear();
  request.cookie = "other=1; ebb_token=abc123";
  EXPECT_FALSE(guard.check(request, "/"));
  request.cookie.clear();
  request.authorization = "Bearer abc123";
  EXPECT_FALSE(guard.check(request, "/")) << "as Prometheus sends it";
}

TEST(Guard, RefusesWhatIsNotTheToken) {
  const Guard guard("abc123", {});
  Request request = from("localhost");
  for (const char* wrong : {"", "abc12", "abc1234", "ABC123", "abc124"}) {
    request.query = std::string("token=") + wrong;
    request.cookie = std::string("ebb_token=") + wrong;
    request.authorization = std::string("Bearer ") + wrong;
    EXPECT_EQ(status_of(guard.check(request, "/")), 401) << wrong;
  }
  request.authorization = "Basic abc123";
  EXPECT_EQ(status_of(guard.check(request, "/")), 401);
}

TEST(Guard, TokensAreRandom) {
  const auto one = make_token();
  const auto other = make_token();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_EQ(one->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(*one, *other);
}

}  // namespace
}  // namespace ebb::serve
