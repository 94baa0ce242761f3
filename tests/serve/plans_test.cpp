// SPDX-License-Identifier: Apache-2.0
#include "serve/plans.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/json.h"

namespace ebb::serve {
namespace {

using View = Plans::View;

constexpr const char* kSmall = "kind=model&name=CNN-MNIST";

/// One who asks, and waits for as long as it is told.
class Asker {
 public:
  ~Asker() { gone(); }

  void asks(Plans& plans, View view, const std::string& query) {
    Answer first = plans.answer(view, query);
    if (!first.later) {
      reply()(std::move(first));
      return;
    }
    was_later = true;
    first.later(reply(), [state = state_] { return state->waits.load(); });
  }
  void gone() { state_->waits = false; }
  Answer answer() {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->came.wait(lock, [this] { return state_->answer.has_value(); });
    return *state_->answer;
  }
  bool has_answer() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->answer.has_value();
  }

  bool was_later = false;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<Answer> answer;
    std::atomic<bool> waits = true;
  };

  Reply reply() {
    return [state = state_](Answer made) {
      const std::lock_guard<std::mutex> lock(state->mutex);
      state->answer = std::move(made);
      state->came.notify_all();
    };
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

Answer asked(Plans& plans, View view, const std::string& query) {
  Asker asker;
  asker.asks(plans, view, query);
  return asker.answer();
}

/// Time that goes on by ten seconds whenever somebody looks at it.
class HastyClock final : public base::Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_ += 10'000'000'000; }

 private:
  mutable std::atomic<std::int64_t> now_ns_ = 0;
};

TEST(Plans, MakesAPlanOnceForWhoeverAsks) {
  Plans plans;
  Asker first;
  first.asks(plans, View::json, kSmall);
  EXPECT_TRUE(first.was_later) << "not on the thread of pages";
  const Answer json = first.answer();
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.type, "application/json");
  EXPECT_TRUE(json.body.ends_with("}\n"));
  const auto read = base::parse_json(json.body);
  ASSERT_TRUE(read);
  EXPECT_NE(read->find("peak_bytes"), nullptr);
  EXPECT_EQ(read->find("fit"), nullptr);
  Asker second;
  second.asks(plans, View::json, std::string("name=CNN-MNIST&batch=&kind=model"));
  EXPECT_FALSE(second.was_later);
  EXPECT_EQ(second.answer().body, json.body);
}

TEST(Plans, SaysWhatFitsWhereThereIsACap) {
  Plans plans;
  for (const char* query :
       {"kind=model&name=LightCNN&cap=8GiB", "kind=transformer&preset=gpt2&cap=4GiB&batch=4"}) {
    const auto read = base::parse_json(asked(plans, View::json, query).body);
    ASSERT_TRUE(read) << query;
    const base::Json* fit = read->find("fit");
    ASSERT_NE(fit, nullptr) << query;
    EXPECT_NE(fit->find("largest_batch"), nullptr);
  }
}

TEST(Plans, APageHasItsFormAndTheDocumentIsThePages) {
  Plans plans;
  const Answer page = asked(plans, View::page, "");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_NE(page.headers.at(0).second.find("connect-src 'self'"), std::string::npos);
  const Answer answer = asked(plans, View::document, "kind=transformer&preset=gpt2");
  const auto document = base::parse_json(answer.body);
  ASSERT_TRUE(document);
  EXPECT_EQ(*document->find("title")->as_string(), "Plan");
  EXPECT_NE(document->find("bars"), nullptr);
  const base::Json* form = document->find("form");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(*form->find("command")->as_string(), "ebb plan transformer gpt2");
  EXPECT_EQ(form->find("failed"), nullptr);
}

TEST(Plans, WhatCannotBePlannedIsOneLine) {
  Plans plans;
  for (const char* query :
       {"kind=transformer&preset=gpt2&batch=0", "kind=transformer&preset=gpt2&seq=1025",
        "kind=transformer&arch=llama&layers=1000000000&d_model=64&heads=4&vocab=100",
        "kind=transformer&preset=gpt2&batch=1000000000000000000",
        "kind=transformer&preset=gpt2&gpus=18446744073709551615",
        "kind=transformer&preset=gpt2&cap=0", "kind=transformer&preset=gpt2&dropout=1e300",
        "kind=transformer&preset=gpt2&tp=5", "kind=model&name=ResNet18&size=1000000000",
        "kind=model&name=ResNet18&batch=1000000000000",
        // Products that 64 bits do not hold.
        "kind=model&name=CNN-MNIST&channels=16384&size=4096&batch=16777216",
        "kind=transformer&arch=gpt2&layers=1&d_model=65536&heads=65536&vocab=1"
        "&max_positions=16777216&seq=16777216&attention=eager",
        "kind=transformer&arch=gpt2&layers=2000&pp=2000&d_model=65536&heads=512&vocab=1"
        "&max_positions=16777216&seq=16777216&batch=256&gpus=2000",
        "kind=model&name=none", "kind=model&name=ResNet18&measured=/etc/passwd", "kind=x", "x", "=",
        "&", "%"}) {
    for (const View view : {View::document, View::json}) {
      const Answer answer = asked(plans, view, query);
      EXPECT_EQ(answer.status, 400) << query << ": " << answer.body;
      EXPECT_EQ(answer.type, "text/plain; charset=utf-8");
      EXPECT_EQ(answer.body.find('\n'), answer.body.size() - 1) << answer.body;
    }
  }
}

TEST(Plans, OnAPageThatLineStandsBesideTheForm) {
  Plans plans;
  for (const char* query : {"kind=transformer&preset=gpt2&batch=x",     // seen at once
                            "kind=transformer&preset=gpt2&batch=0"}) {  // seen by the plan
    const Answer page = asked(plans, View::page, query);
    EXPECT_EQ(page.status, 400);
    EXPECT_EQ(page.type, "text/html; charset=utf-8");
    EXPECT_NE(page.body.find(R"("failed":true)"), std::string::npos);
    EXPECT_NE(page.body.find("batch"), std::string::npos);
  }
}

TEST(Plans, WhatTakesTooLongIsGivenUp) {
  const HastyClock clock;
  Plans plans(clock);
  const Answer answer = asked(plans, View::json, "kind=transformer&preset=gpt2&cap=24GiB");
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body,
            "this takes more than 20 seconds; a shell has the time: "
            "ebb plan transformer gpt2 --cap 24GiB --fit\n");
  EXPECT_EQ(asked(plans, View::json, kSmall).status, 200) << "the next one is made";
}

/// A clock that holds whoever looks at it until it is let go: a plan that goes on for so long.
class HeldClock final : public base::Clock {
 public:
  std::int64_t now_ns() const override {
    std::unique_lock<std::mutex> lock(mutex_);
    ++held_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    return 0;
  }
  void wait_for(int held) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return held_ >= held; });
  }
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int held_ = 0;
  bool open_ = false;
};

std::string query_of(std::size_t number) {
  return std::string(kSmall) + "&batch=" + std::to_string(number + 1);
}

TEST(Plans, SoManyAreMadeAndWaitAndMoreAreRefused) {
  HeldClock clock;
  std::vector<Asker> askers(Plans::kMostAtATime + Plans::kMostWaiting);
  Plans plans(clock);
  for (std::size_t i = 0; i < askers.size(); ++i) {
    askers[i].asks(plans, View::json, query_of(i));
    if (i < Plans::kMostAtATime) clock.wait_for(static_cast<int>(i) + 1);
  }
  Asker more;
  more.asks(plans, View::json, query_of(100));
  EXPECT_EQ(more.answer().status, 503);
  EXPECT_EQ(more.answer().body, "16 plans wait to be made: try again in a moment\n");
  askers.back().gone();
  Asker in_its_place;
  in_its_place.asks(plans, View::json, query_of(101));
  EXPECT_FALSE(in_its_place.has_answer());
  clock.open();
  for (std::size_t i = 0; i + 1 < askers.size(); ++i)
    EXPECT_EQ(askers[i].answer().status, 200) << i;
  EXPECT_EQ(in_its_place.answer().status, 200);
  EXPECT_FALSE(askers.back().has_answer()) << "nobody waited for it";
}

TEST(Plans, WhatNobodyWaitsForIsGivenUp) {
  HeldClock clock;
  Plans plans(clock);
  Asker asker;
  asker.asks(plans, View::json, "kind=transformer&preset=gpt2&cap=24GiB");
  clock.wait_for(1);
  asker.gone();
  clock.open();
  EXPECT_EQ(asker.answer().status, 422) << "which nobody reads";
}

TEST(Plans, EndsWhileOneIsMade) {
  HeldClock clock;
  Asker large;
  Asker small;
  {
    Plans plans(clock);
    large.asks(plans, View::json, "kind=transformer&preset=mt-nlg-530b&cap=24GiB");
    small.asks(plans, View::json, query_of(1));
    clock.wait_for(2);
    clock.open();
  }
  EXPECT_TRUE(large.has_answer());
  EXPECT_TRUE(small.has_answer());
}

}  // namespace
}  // namespace ebb::serve
