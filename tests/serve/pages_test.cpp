// SPDX-License-Identifier: Apache-2.0
#include "serve/pages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "record/writer.h"
#include "support/fake_clock.h"
#include "support/temporary_directory.h"

namespace ebb::serve {
namespace {

constexpr record::ProcessKey kProcess{4242, 5000};

/// A record with a run that has ended (1) and one that goes on (2).
class PagesTest : public testing::Test {
 protected:
  PagesTest() {
    auto ended = begin("first");
    record::Run over;
    over.ended = 1'700'000'010;
    over.exit_code = 0;
    over.ending = fact::RunEnd::exit;
    ended->end(over);
    writer_ = begin("second");
    record::Process process;
    process.pid = kProcess.pid;
    process.start = kProcess.start;
    process.command = "python3 train.py";
    writer_->add(process);
    add_sample(1);
    until_recorded(1);
  }

  std::unique_ptr<record::Writer> begin(const char* name) {
    record::Run run;
    run.name = name;
    run.command = {"python3", "train.py"};
    run.started = 1'700'000'000;
    auto writer = record::Writer::begin(folder_ / "runs.db", run);
    EXPECT_TRUE(writer) << writer.error().message;
    return *std::move(writer);
  }

  /// A simulation that has ended long ago.
  void add_simulation(const std::string& sweep) {
    auto writer = begin("simulated");
    writer->add(record::Simulation{sweep, 0, 2, "{}"});
    record::Run over;
    over.ended = 1'700'000'010;
    over.exit_code = 0;
    over.ending = fact::RunEnd::exit;
    writer->end(over);
    clock_.advance_seconds(1.0);
  }

  void add_sample(double seconds) {
    record::Sample sample;
    sample.process = kProcess;
    sample.seconds = seconds;
    sample.memory.rss = std::uint64_t{64} << 20;
    writer_->add(sample);
  }

  /// Waits until the record has so many samples of the run that goes on: a thread writes them.
  void until_recorded(std::uint64_t samples) const {
    for (int i = 0; i < 6000; ++i) {
      auto store = record::Store::open(folder_ / "runs.db");
      ASSERT_TRUE(store) << store.error().message;
      const auto run = store->find("2");
      if (run && run->samples >= samples) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "waited two minutes in vain";
  }

  std::string revision(const std::string& name) {
    const auto found = pages_.revision_of(name);
    return found ? *found : found.error().message;
  }

  /// Waits until the record has what was added.
  void until_changed(const std::string& name, const std::string& before) {
    for (int i = 0; i < 6000 && revision(name) == before; ++i) {
      clock_.advance_seconds(1.0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_NE(revision(name), before);
  }

  std::vector<std::string> news(const std::vector<std::string>& names) {
    clock_.advance_seconds(10.0);
    std::vector<std::string> found;
    for (const Event& event : pages_.news(names))
      found.push_back(event.topic);
    return found;
  }

  support::TemporaryDirectory folder_;
  support::FakeClock clock_;
  Pages pages_{folder_ / "runs.db", clock_};
  std::unique_ptr<record::Writer> writer_;
};

TEST_F(PagesTest, ARevisionChangesWithTheRunAndNotOtherwise) {
  const std::string list = revision("runs");
  const std::string ended = revision("runs/1");
  const std::string running = revision("runs/2");
  EXPECT_EQ(revision("runs/2"), running);
  add_sample(2);
  until_changed("runs/2", running);
  EXPECT_NE(revision("runs"), list);
  EXPECT_EQ(revision("runs/1"), ended);
}

TEST_F(PagesTest, IsMadeOnceForAllWhoLook) {
  const auto first = pages_.get("runs/1", 700);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = pages_.get("runs/1", 900);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->get(), second->get()) << "both are shown with a thousand points";
  const auto finer = pages_.get("runs/1", 8000);
  ASSERT_TRUE(finer);
  EXPECT_NE(first->get(), finer->get());
  EXPECT_FALSE((*first)->live);
}

TEST_F(PagesTest, WhatGoesOnSaysWhereItsChangesAreTold) {
  const auto run = pages_.get("runs/2", 1000);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE((*run)->live);
  EXPECT_NE((*run)->json.find(R"("live":{"events":"2/events","document":"2/document",)"),
            std::string::npos)
      << (*run)->json;
  const auto list = pages_.get("runs", 1000);
  ASSERT_TRUE(list);
  EXPECT_NE((*list)->json.find(R"("live":{"events":"events","document":"document",)"),
            std::string::npos);
  const auto both = pages_.get("runs/1,2", 1000);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_NE((*both)->json.find(R"("events":"1,2/events")"), std::string::npos);
}

TEST_F(PagesTest, TellsWhatHasChangedOnce) {
  using Names = std::vector<std::string>;
  const Names all = {"runs", "runs/1", "runs/2"};
  EXPECT_EQ(news(all), all) << "nothing was told yet";
  news(all);  // verdicts have come
  EXPECT_EQ(news(all), Names{});
  const std::string before = revision("runs/2");
  add_sample(2);
  until_changed("runs/2", before);
  const Names changed = news(all);
  EXPECT_EQ(changed, (Names{"runs", "runs/2"}));
  EXPECT_EQ(news({"runs/1"}), Names{});
}

TEST_F(PagesTest, APageThatSomebodyHasIsMadeAnewBeforeItIsTold) {
  ASSERT_TRUE(pages_.get("runs/2", 1000));
  const std::string before = revision("runs/2");
  add_sample(2);
  until_changed("runs/2", before);
  news({"runs/2"});
  const auto page = pages_.get("runs/2", 1000);
  ASSERT_TRUE(page);
  EXPECT_EQ((*page)->revision, revision("runs/2"));
}

TEST_F(PagesTest, TheListLearnsVerdicts) {
  const auto has_verdict = [&] {
    return (*pages_.get("runs", 1000))->json.find("not_enough_data") != std::string::npos;
  };
  EXPECT_FALSE(has_verdict()) << "nobody listens yet";
  news({"runs"});
  clock_.advance_seconds(10.0);
  EXPECT_TRUE(has_verdict());
}

TEST_F(PagesTest, SaysThatARunIsGone) {
  news({"runs/1"});
  auto store = record::Store::open(folder_ / "runs.db");
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->remove({1}));
  clock_.advance_seconds(10.0);
  const auto events = pages_.news({"runs/1"});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].data, "gone");
  EXPECT_EQ(pages_.get("runs/1", 1000).error().code, base::Code::not_found);
}

TEST_F(PagesTest, SimulationsAreComparedWithAllOfTheirSweep) {
  add_simulation("sweep");
  add_simulation("sweep");
  add_simulation("another");
  for (const char* name : {"runs/compare-3", "runs/compare-4", "runs/compare-3,5"}) {
    const auto page = pages_.get(name, 1000);
    EXPECT_TRUE(page) << name << ": " << page.error().message;
  }
  EXPECT_EQ(revision("runs/compare-3"), revision("runs/compare-4")) << "the same two";
  EXPECT_NE(revision("runs/compare-3"), revision("runs/compare-5"));
  for (const char* none : {"runs/compare-1", "runs/compare-", "runs/compare-9", "runs/compare-3,3",
                           "runs/compare-3,1", "compare-3"})
    EXPECT_FALSE(pages_.get(none, 1000)) << none;
  const auto run = pages_.get("runs/3", 1000);
  ASSERT_TRUE(run);
  EXPECT_NE((*run)->json.find(R"("links":[{"text":"What was simulated","path":"compare-3"}])"),
            std::string::npos);
  EXPECT_EQ((*pages_.get("runs/1", 1000))->json.find("\"links\""), std::string::npos);
  EXPECT_NE((*pages_.get("runs/3,5", 1000))->json.find(R"("path":"compare-3,5")"),
            std::string::npos);
  EXPECT_EQ((*pages_.get("runs/1,3", 1000))->json.find("\"links\""), std::string::npos);
}

}  // namespace
}  // namespace ebb::serve
