// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "serve/client.h"

namespace ebb::serve {
namespace {

class ServerTest : public testing::Test {
 protected:
  /// Tells the path that it was asked for, and its thread.
  void start(const Bounds& bounds = {}) {
    auto server = Server::listen({}, bounds);
    ASSERT_TRUE(server) << server.error().message;
    server_.emplace(*std::move(server));
    const auto handler = [this](const Request& request) -> Answer {
      ++handled_;
      if (request.path.starts_with("/events/")) return stream_of({request.path.substr(8), "first"});
      if (request.path == "/memory") throw std::bad_alloc();
      if (request.path == "/later") return made_later();
      if (request.path == "/missing") return refusal(404, "nothing there");
      if (request.path == "/large") return {200, "text/plain", std::string(8 << 20, 'x')};
      return {200, "text/plain",
              "<" + request.path + "|" + request.query + "|" + request.host + ">"};
    };
    // Each topic hears the number of the tick.
    const auto ticker = [this](const std::vector<std::string>& topics) {
      std::vector<Event> events;
      const std::string number = std::to_string(++ticks_);
      for (const std::string& topic : topics) {
        if (topic == "memory") throw std::bad_alloc();
        const std::string more(topic == "large" ? 1 << 20 : 0, 'x');
        if (topic != "quiet") events.push_back({topic, topic + " " + number + more});
      }
      return events;
    };
    const auto started = server_->start({.get = handler, .post = {}, .ticker = ticker});
    ASSERT_TRUE(started) << started.error().message;
  }
  const Address& address() const { return server_->address(); }

  /// What is asked for stays with the test, to be answered when it sees fit.
  Answer made_later() {
    Answer answer;
    answer.later = [this](Reply reply, Waits waits) {
      const base::Lock lock(mutex_);
      waiting_.emplace_back(std::move(reply), std::move(waits));
      ++asked_later_;
    };
    return answer;
  }
  std::pair<Reply, Waits> take_waiting(int number) {
    while (asked_later_ < number)
      std::this_thread::yield();
    const base::Lock lock(mutex_);
    auto taken = std::move(waiting_.back());
    waiting_.pop_back();
    return taken;
  }

  base::Mutex mutex_;
  std::vector<std::pair<Reply, Waits>> waiting_ EBB_GUARDED_BY(mutex_);
  std::atomic<int> asked_later_ = 0;
  std::atomic<int> handled_ = 0;
  std::atomic<int> ticks_ = 0;
  std::optional<Server> server_;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ServerTest, AnswersOneRequestAfterTheOther) {
  start();
  const Client client(address());
  for (const char* path : {"/a", "/b?x=1&y=2", "/missing"}) {
    client.send(std::string("GET ") + path + " HTTP/1.1\r\nHost: here\r\n\r\n");
    const std::string answer = client.answer();
    if (path[1] == 'b') {
      EXPECT_TRUE(holds(answer, "</b|x=1&y=2|here>")) << answer;
    }
    EXPECT_TRUE(answer.starts_with(path[1] == 'm' ? "HTTP/1.1 404 " : "HTTP/1.1 200 ")) << answer;
  }
  EXPECT_EQ(handled_, 3);
}

TEST_F(ServerTest, SaysToABrowserThatNothingMayBeLoaded) {
  start();
  const std::string answer = got(address(), "/");
  EXPECT_TRUE(
      holds(answer, "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"));
  EXPECT_TRUE(holds(answer, "X-Content-Type-Options: nosniff\r\n"));
  EXPECT_TRUE(holds(answer, "Cache-Control: no-store\r\n"));
  EXPECT_FALSE(holds(answer, "Access-Control")) << answer;
}

TEST_F(ServerTest, HasAHeadWithoutABody) {
  start();
  const std::string answer =
      asked(address(), "HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(holds(answer, "Content-Length: 7\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST_F(ServerTest, RefusesWhatIsNoPlainQuestion) {
  start();
  const auto status_of = [&](const std::string& request) {
    const std::string answer = asked(address(), request);
    return answer.substr(0, answer.find("\r\n"));
  };
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"),
            "HTTP/1.1 405 Method Not Allowed");
  EXPECT_EQ(status_of("DELETE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 405 Method Not Allowed");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"),
            "HTTP/1.1 413 Payload Too Large");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "HTTP/1.1 413 Payload Too Large");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n"),
            "HTTP/1.1 431 Request Header Fields Too Large");
  for (const char* garbage :
       {"hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n"})
    EXPECT_EQ(status_of(garbage), "HTTP/1.1 400 Bad Request") << garbage;
  EXPECT_EQ(handled_, 0);
}

TEST_F(ServerTest, GoesOnWhenAHandlerHasNoMemory) {
  start();
  EXPECT_TRUE(got(address(), "/memory").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(got(address(), "/a").starts_with("HTTP/1.1 200 "));
}

TEST_F(ServerTest, AnAnswerMayComeLaterWhileOthersAreAnswered) {
  Bounds bounds;
  bounds.stall_seconds = 3;  // enough to say what is wanted, on a busy machine too
  start(bounds);
  const Client client(address());
  client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto [reply, waits] = take_waiting(1);
  EXPECT_TRUE(got(address(), "/a").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(Client(address()).rest(), "") << "one that came later has stalled by now";
  EXPECT_TRUE(waits()) << "who waits for an answer does not";
  std::thread([&reply = reply] { reply({200, "text/plain", "<late>"}); }).join();
  const std::string answer = client.rest();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_TRUE(answer.ends_with("<late>")) << answer;
  EXPECT_TRUE(holds(answer, "Connection: close\r\n")) << answer;
}

TEST_F(ServerTest, WhoLeavesDoesNotWait) {
  start();
  std::pair<Reply, Waits> asked;
  {
    const Client client(address());
    client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    asked = take_waiting(1);
    EXPECT_TRUE(asked.second());
  }
  while (asked.second())
    std::this_thread::yield();
  asked.first({200, "text/plain", "nobody hears it"});
  EXPECT_TRUE(got(address(), "/a").starts_with("HTTP/1.1 200 "));
}

TEST_F(ServerTest, WhatIsNeverAnsweredIsSaidToBeSo) {
  start();
  const Client client(address());
  client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  { const auto dropped = take_waiting(1); }
  EXPECT_TRUE(client.rest().starts_with("HTTP/1.1 503 "));
}

TEST_F(ServerTest, EndsWhileAnAnswerIsAwaited) {
  start();
  const Client client(address());
  client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto [reply, waits] = take_waiting(1);
  server_.reset();
  EXPECT_FALSE(waits());
  reply({200, "text/plain", "nobody hears it"});
  EXPECT_EQ(client.rest(), "");
}

TEST_F(ServerTest, LeavesClientsThatStall) {
  Bounds bounds;
  bounds.stall_seconds = 3;  // enough for the others on a busy machine
  bounds.idle_seconds = 0.5;
  start(bounds);
  const Client silent(address());
  const Client slow(address());
  slow.send("GET / HTTP/1.1\r\nHo");
  const Client idle(address());
  idle.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(holds(idle.answer(), "</a||h>"));
  const Client greedy(address());  // and takes nothing of its answer
  greedy.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(silent.rest(), "");
  EXPECT_EQ(slow.rest(), "");
  EXPECT_EQ(idle.rest(), "");
  EXPECT_TRUE(got(address(), "/a").starts_with("HTTP/1.1 200 "));
}

TEST_F(ServerTest, LetsOnlySoManyInAtATime) {
  Bounds bounds;
  bounds.connections = 4;
  start(bounds);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Client>(address()));
    clients.back()->send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(holds(clients.back()->answer(), "</a||h>"));
  }
  const Client waiting(address());  // in the system's queue
  waiting.send("GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(handled_, 4);
  clients.pop_back();
  EXPECT_TRUE(holds(waiting.answer(), "</b||h>"));
}

TEST_F(ServerTest, ServesManyAtATimeOnTwoThreads) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k)
        if (holds(got(address(), "/a"), "</a||localhost>")) ++right;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, 160);
}

Bounds quick_bounds() {
  Bounds bounds;
  bounds.tick_seconds = 0.02;
  bounds.quiet_seconds = 0.1;
  return bounds;
}

/// Opens a stream and takes its header and first event.
void open_stream(const Client& client, const std::string& topic) {
  client.send("GET /events/" + topic + " HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string header = client.answer();
  EXPECT_TRUE(header.starts_with("HTTP/1.1 200 ")) << header;
  EXPECT_TRUE(holds(header, "Content-Type: text/event-stream\r\n")) << header;
  EXPECT_FALSE(holds(header, "Content-Length")) << header;
  EXPECT_EQ(client.until("\n\n"), "data: first\n\n");
}

TEST_F(ServerTest, TellsThoseWhoListenWhatIsNewOfTheirTopic) {
  start(quick_bounds());
  const Client a(address());
  const Client b(address());
  open_stream(a, "a");
  open_stream(b, "b");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(a.until("\n\n").starts_with("data: a "));
    EXPECT_TRUE(b.until("\n\n").starts_with("data: b "));
  }
  EXPECT_TRUE(holds(got(address(), "/other"), "</other||localhost>")) << "others are answered";
}

TEST_F(ServerTest, LetsThoseWhoListenKnowThatItIsThere) {
  start(quick_bounds());
  const Client client(address());
  open_stream(client, "quiet");
  EXPECT_EQ(client.until("\n\n"), ":\n\n");
}

TEST_F(ServerTest, GoesOnWhenItsTickerHasNoMemory) {
  start(quick_bounds());
  {
    const Client client(address());
    open_stream(client, "memory");
    const int before = ticks_;
    while (ticks_ < before + 3)
      std::this_thread::yield();
  }
  const Client client(address());
  open_stream(client, "a");
  EXPECT_TRUE(client.until("\n\n").starts_with("data: a "));
}

TEST_F(ServerTest, TicksOnlyWhileSomebodyListens) {
  start(quick_bounds());
  {
    const Client client(address());
    open_stream(client, "a");
    client.until("\n\n");
  }
  // It is seen to be gone at one of the next ticks.
  for (int before = -1; before != ticks_; std::this_thread::sleep_for(std::chrono::seconds(1)))
    before = ticks_;
}

TEST_F(ServerTest, AStreamHasAHeadToo) {
  start();
  const std::string answer =
      asked(address(), "HEAD /events/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST_F(ServerTest, OneWhoListensAndTakesNothingCostsNobodyElse) {
  start(quick_bounds());
  const Client stalled(address());
  open_stream(stalled, "large");
  const Client client(address());
  open_stream(client, "a");
  for (int i = 0; i < 40; ++i)
    EXPECT_TRUE(client.until("\n\n").starts_with("data: a "));
}

TEST_F(ServerTest, EndsWhileSomebodyListens) {
  start(quick_bounds());
  const Client client(address());
  open_stream(client, "a");
  server_.reset();
  client.rest();
}

TEST_F(ServerTest, EndsWhileClientsAreThere) {
  start();
  const Client client(address());
  client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
  const Client silent(address());
  server_.reset();
  EXPECT_EQ(silent.rest(), "");
}

TEST(Server, SaysThatAPortIsTaken) {
  auto first = Server::listen({});
  ASSERT_TRUE(first);
  ASSERT_GT(first->address().port, 0);
  const auto second = Server::listen(first->address());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            first->address().text() + ": cannot listen: Address already in use");
}

}  // namespace
}  // namespace ebb::serve
