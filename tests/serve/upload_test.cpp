// SPDX-License-Identifier: Apache-2.0
// Bodies that clients send, through a real server.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "serve/client.h"
#include "serve/server.h"

namespace ebb::serve {
namespace {

/// Takes bodies at /take and says how long they are.
class UploadTest : public testing::Test {
 protected:
  ~UploadTest() override {
    server_.reset();
    if (later_.joinable()) later_.join();
  }

  void start(const Bounds& bounds = {}) {
    auto server = Server::listen({}, bounds);
    ASSERT_TRUE(server) << server.error().message;
    server_.emplace(*std::move(server));
    const auto get = [](const Request& request) -> Answer {
      EXPECT_FALSE(request.is_post);
      return {200, "text/plain", "<got>"};
    };
    const auto post = [this](const Request& request) -> Answer {
      EXPECT_TRUE(request.is_post);
      ++posted_;
      if (request.path == "/no") return refusal(503, "not now");
      const std::shared_ptr<void> held(nullptr, [this](void*) { ++let_go_; });
      Answer answer;
      answer.taker = [this, held, path = request.path](base::FileDescriptor body, Reply reply) {
        ++taken_;
        if (path == "/never") return;
        if (path == "/memory") throw std::bad_alloc();
        struct stat status {};
        ::fstat(body.get(), &status);
        std::string first(5, '\0');
        first.resize(static_cast<std::size_t>(::read(body.get(), first.data(), 5)));
        const Answer made = {200, "text/plain",
                             "<" + std::to_string(status.st_size) + " " + first + " " +
                                 std::to_string(status.st_nlink) + ">"};
        if (path != "/later") return reply(made);
        later_ = std::thread([reply = std::move(reply), made] { reply(made); });
      };
      return answer;
    };
    const auto started = server_->start({.get = get, .post = post, .ticker = {}});
    ASSERT_TRUE(started) << started.error().message;
  }
  const Address& address() const { return server_->address(); }

  std::atomic<int> posted_ = 0;
  std::atomic<int> taken_ = 0;
  std::atomic<int> let_go_ = 0;
  std::thread later_;
  std::optional<Server> server_;
};

std::string post_of(const std::string& path, const std::string& headers, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n" + body;
}

std::string length_of(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(UploadTest, ABodyIsHandedOverInAFileWithoutAName) {
  start();
  for (const std::string& body : {std::string("hello"), std::string(300'000, 'x'), std::string()}) {
    const std::string answer = asked(address(), post_of("/take", length_of(body), body));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
    EXPECT_TRUE(says(answer, "<" + std::to_string(body.size()) + " " + body.substr(0, 5) + " 0>"))
        << answer;
  }
}

TEST_F(UploadTest, ABodyMayComeInChunks) {
  start();
  const std::string answer = asked(address(), post_of("/take", "Transfer-Encoding: chunked\r\n",
                                                      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_TRUE(says(answer, "<5 abcde 0>")) << answer;
}

/// Whether the server closes a connection on which this is sent without end, before 64 MiB.
bool ends(const Address& address, const std::string& start, const std::string& part) {
  const Client client(address);
  client.send(start);
  std::size_t sent = 0;
  while (sent < (64U << 20) && client.sends(part))
    sent += part.size();
  return sent < (64U << 20);
}

TEST_F(UploadTest, WhatGoesWithChunksIsBounded) {
  start();
  const std::string chunked = post_of("/take", "Transfer-Encoding: chunked\r\n", "");
  const std::string part(100'000, 'a');
  EXPECT_TRUE(ends(address(), chunked + "1;a=\"", part)) << "an extension";
  EXPECT_TRUE(ends(address(), chunked + "0\r\na: ", part)) << "a trailer";
  EXPECT_EQ(taken_, 0);
}

TEST_F(UploadTest, ABodyOfNoKnownLengthIsNoRequest) {
  start();
  const std::string answer =
      asked(address(), post_of("/take", "Transfer-Encoding: chunked, identity\r\n",
                               "GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_FALSE(says(answer, "<got>")) << "what came with it is not the next request";
}

TEST_F(UploadTest, TheAnswerMayComeFromAnotherThread) {
  start();
  EXPECT_TRUE(says(asked(address(), post_of("/later", length_of("abc"), "abc")), "<3 abc 0>"));
}

TEST_F(UploadTest, WhoAsksFirstIsToldToGoOn) {
  start();
  const Client client(address());
  client.send(post_of("/take", length_of("abc") + "Expect: 100-Continue\r\n", ""));
  EXPECT_EQ(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_TRUE(says(client.rest(), "<3 abc 0>"));
}

TEST_F(UploadTest, WhatIsTooLongIsRefused) {
  Bounds bounds;
  bounds.body_bytes = 1000;
  start(bounds);
  const std::string body(1001, 'x');
  EXPECT_TRUE(asked(address(), post_of("/take", "Content-Length: 999999999999\r\n", "x"))
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(
      asked(address(), post_of("/take", length_of(body), body)).starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(asked(address(), post_of("/take", "Transfer-Encoding: chunked\r\n",
                                       "3e9\r\n" + body + "\r\n0\r\n\r\n"))
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(taken_, 0);
  EXPECT_EQ(let_go_, 3);
}

TEST_F(UploadTest, WhatWouldBeTooLongIsRefusedBeforeAnyOfItComes) {
  Bounds bounds;
  bounds.body_bytes = 1000;
  start(bounds);
  const Client client(address());
  client.send(post_of("/take", "Content-Length: 1001\r\nExpect: 100-continue\r\n", ""));
  EXPECT_TRUE(client.until("\r\n").starts_with("HTTP/1.1 413 ")) << "and no 100 Continue";
  while (let_go_ < 1)
    std::this_thread::yield();
  EXPECT_EQ(taken_, 0);
}

TEST_F(UploadTest, ARefusalNeedsNoBody) {
  start();
  const std::string answer =
      asked(address(), post_of("/no", "Content-Length: 1000000\r\n", "begun"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_EQ(taken_, 0);
}

TEST_F(UploadTest, OneWhoStallsOrLeavesIsLetGo) {
  Bounds bounds;
  bounds.stall_seconds = 3;  // enough for a header, on a busy machine too
  start(bounds);
  const Client stalls(address());
  stalls.send(post_of("/take", "Content-Length: 1000000\r\n", "begun"));
  { Client(address()).send(post_of("/take", "Content-Length: 1000000\r\n", "begun")); }
  EXPECT_EQ(stalls.rest(), "");
  while (let_go_ < posted_ || posted_ < 2)
    std::this_thread::yield();
  EXPECT_EQ(taken_, 0);
}

TEST_F(UploadTest, OneByteAfterTheOtherIsTooSlow) {
  Bounds bounds;
  bounds.stall_seconds = 3;  // enough for a header, on a busy machine too
  start(bounds);
  const Client client(address());
  client.send(post_of("/take", "Content-Length: 1000000000\r\n", ""));
  std::thread trickle([&] {
    while (let_go_ == 0) {
      client.try_send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  trickle.join();
  EXPECT_EQ(taken_, 0);
}

TEST_F(UploadTest, MalformedChunksEndTheConnection) {
  start();
  EXPECT_EQ(asked(address(), post_of("/take", "Transfer-Encoding: chunked\r\n", "zz\r\n")), "");
  while (let_go_ < 1)
    std::this_thread::yield();
  EXPECT_EQ(taken_, 0);
}

TEST_F(UploadTest, WithoutAnAnswerThereIsOneAllTheSame) {
  start();
  for (const char* path : {"/never", "/memory"}) {
    const std::string answer = asked(address(), post_of(path, length_of("abc"), "abc"));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
    EXPECT_TRUE(says(answer, "no answer could be made")) << answer;
  }
}

TEST_F(UploadTest, EndsWhileABodyComes) {
  start();
  const Client client(address());
  client.send(post_of("/take", "Content-Length: 1000000\r\n", "begun"));
  while (posted_ == 0)
    std::this_thread::yield();
  server_.reset();
  client.rest();
  EXPECT_EQ(let_go_, 1);
}

}  // namespace
}  // namespace ebb::serve
