// SPDX-License-Identifier: Apache-2.0
#include "serve/snapshots.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "serve/upload_file.h"
#include "support/fake_clock.h"
#include "support/temporary_directory.h"

namespace ebb::serve {
namespace {

constexpr const char* kSample = EBB_TEST_DATA "/torch-2.11/vectors/ctx.pickle";
constexpr const char* kPacked =
    EBB_TEST_DATA "/torch-2.11/frames/prefetch_streams.default.pickle.gz";

void until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

base::FileDescriptor file_of(const std::string& content) {
  auto file = unnamed_file();
  EXPECT_TRUE(file);
  EXPECT_EQ(base::write_all(file->get(), content), 0);
  ::lseek(file->get(), 0, SEEK_SET);
  return *std::move(file);
}

std::string sample(const char* path = kSample) {
  return base::read_file(path).value_or("");
}

/// Where an answer is put by whichever thread has it.
class Answered {
 public:
  Reply reply() {
    return [this](Answer made) {
      const base::Lock lock(mutex_);
      answer_ = std::move(made);
    };
  }
  Answer get() {
    until([this] {
      const base::Lock lock(mutex_);
      return answer_.has_value();
    });
    const base::Lock lock(mutex_);
    return answer_.value_or(Answer{});
  }
  /// "snapshots/KEY" as it was answered.
  std::string key() {
    const Answer made = get();
    EXPECT_EQ(made.status, 201) << made.body;
    const auto read = base::parse_json(made.body);
    const std::string page = read ? *read->find("page")->as_string() : "snapshots/";
    return page.substr(std::string("snapshots/").size());
  }

 private:
  base::Mutex mutex_;
  std::optional<Answer> answer_ EBB_GUARDED_BY(mutex_);
};

Answer upload(Snapshots& snapshots, const std::string& name, const std::string& content) {
  Answer let_in = snapshots.upload(name);
  if (!let_in.taker) return let_in;
  Answered answered;
  std::exchange(let_in.taker, {})(file_of(content), answered.reply());
  return answered.get();
}

std::string key_of(Snapshots& snapshots, const std::string& content) {
  Answer let_in = snapshots.upload("job.pickle");
  EXPECT_TRUE(let_in.taker) << let_in.body;
  if (!let_in.taker) return "";
  Answered answered;
  std::exchange(let_in.taker, {})(file_of(content), answered.reply());
  return answered.key();
}

bool shows(Snapshots& snapshots, const std::string& name, const std::string& part) {
  const auto page = snapshots.page(name);
  return page && page->json.find(part) != std::string::npos;
}

/// Waits for the search, and ends it.
void end_search(Snapshots& snapshots, const std::string& key) {
  until([&] {
    return shows(snapshots, key, "\"stop\":\"" + key + "/stop\"") ||
           shows(snapshots, key, "\"advice\"");
  });
  snapshots.stop(key);
  until([&] { return shows(snapshots, key, "\"advice\""); });
}

TEST(Snapshots, OneThatIsUploadedHasAVerdictAndThenBetterSettings) {
  Snapshots snapshots;
  const std::string key = key_of(snapshots, sample());
  until([&] { return shows(snapshots, key, "\"verdict\""); });
  until([&] { return shows(snapshots, key, "\"advice\""); });
  EXPECT_TRUE(shows(snapshots, key, "\"best setting\""));
  EXPECT_TRUE(shows(snapshots, key, "Kept while this page is open"));
  EXPECT_TRUE(shows(snapshots, key, "\"keep_seconds\":20")) << "without a stream";
  EXPECT_FALSE(shows(snapshots, key, "\"task\""));
  EXPECT_TRUE(shows(snapshots, key, "job.pickle"));
  EXPECT_EQ(snapshots.page(key + "-1"), nullptr) << "it has one device";
  EXPECT_EQ(snapshots.page(key + "-0"), nullptr);
}

TEST(Snapshots, WhatIsNoneIsSaidInOneLine) {
  Snapshots snapshots;
  for (const std::string content : {"", "hello", "\x80\x04.", "\x1f\x8b\x08garbage"}) {
    const Answer answer = upload(snapshots, "a\nb.pickle", content);
    EXPECT_EQ(answer.status, 422) << answer.body;
    EXPECT_TRUE(answer.body.starts_with("a b.pickle: ")) << answer.body;
    EXPECT_EQ(answer.body.find('\n'), answer.body.size() - 1) << answer.body;
  }
  std::string cut = sample();
  cut.resize(cut.size() / 2);
  EXPECT_EQ(upload(snapshots, "", cut).status, 422);
}

TEST(Snapshots, ALongNameIsCut) {
  Snapshots snapshots;
  const Answer answer = upload(snapshots, std::string(5000, 'x'), "hello");
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body.find_first_not_of('x'), 100U) << answer.body;
  EXPECT_TRUE(answer.body.substr(100).starts_with("…: ")) << answer.body;
}

TEST(Snapshots, OnlyTwoAreLetInAtATime) {
  Snapshots snapshots;
  Answer first = snapshots.upload("first");
  Answer second = snapshots.upload("second");
  ASSERT_TRUE(first.taker && second.taker);
  const Answer third = snapshots.upload("third");
  EXPECT_FALSE(third.taker);
  EXPECT_EQ(third.status, 503);
  EXPECT_TRUE(third.body.starts_with("2 snapshots are being looked at")) << third.body;
  first = Answer{};  // it never came whole
  EXPECT_TRUE(snapshots.upload("fourth").taker);
}

TEST(Snapshots, AnUploadIsForgottenOnceNobodyLooksAtIt) {
  support::FakeClock clock;
  Snapshots snapshots(clock);
  const std::string key = key_of(snapshots, sample());
  end_search(snapshots, key);
  for (int i = 0; i < 4; ++i) {
    clock.advance_seconds(150);
    snapshots.news({"snapshots/" + key});
  }
  EXPECT_NE(snapshots.page(key), nullptr) << "somebody listens";
  for (int i = 0; i < 4; ++i) {
    clock.advance_seconds(150);
    EXPECT_TRUE(snapshots.state(key)) << "its page asks now and then";
  }
  clock.advance_seconds(181);
  EXPECT_EQ(snapshots.page(key), nullptr);
  EXPECT_FALSE(snapshots.state(key));
  EXPECT_FALSE(snapshots.stop(key));
  const auto events = snapshots.news({"snapshots/" + key});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].data, "gone");
}

TEST(Snapshots, OnlySoManyUploadsAreKept) {
  support::FakeClock clock;
  Snapshots snapshots(clock);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i <= Snapshots::kMostUploaded; ++i) {
    clock.advance_seconds(1);
    keys.push_back(key_of(snapshots, sample()));
    end_search(snapshots, keys.back());
  }
  EXPECT_EQ(snapshots.page(keys.front()), nullptr);
  for (std::size_t i = 1; i < keys.size(); ++i)
    EXPECT_NE(snapshots.page(keys[i]), nullptr) << i;
}

/// Uploads a history whose search takes a while and waits until it has begun. One that was over
/// before anybody looked, as on a busy machine, is no search to be stopped: then another one.
std::string key_of_search(Snapshots& snapshots) {
  for (int i = 0; i < 100; ++i) {
    const std::string key = key_of(snapshots, sample(kPacked));
    bool is_begun = false;
    until([&] {
      is_begun = shows(snapshots, key, "\"stop\":\"" + key + "/stop\"");
      return is_begun || shows(snapshots, key, "\"advice\"");
    });
    if (is_begun) return key;
  }
  ADD_FAILURE() << "no search was seen";
  return {};
}

TEST(Snapshots, ASearchCanBeStopped) {
  Snapshots snapshots;
  bool is_stopped = false;
  for (int i = 0; i < 100 && !is_stopped; ++i) {
    const std::string key = key_of_search(snapshots);
    EXPECT_TRUE(shows(snapshots, key, "\"verdict\"")) << "it comes first";
    EXPECT_TRUE(snapshots.stop(key));
    until([&] { return shows(snapshots, key, "\"advice\""); });
    is_stopped = shows(snapshots, key, "\"stopped\"");  // or it ended at that moment
  }
  EXPECT_TRUE(is_stopped);
}

TEST(Snapshots, ThoseThatWereNamedStayUnderTheirNumbers) {
  const support::TemporaryDirectory folder;
  const std::string broken = folder.write("broken.pickle", "no pickle");
  support::FakeClock clock;
  Snapshots snapshots(clock);
  const auto begun = snapshots.begin({kSample, broken});
  ASSERT_TRUE(begun) << begun.error().message;
  const auto links = snapshots.links();
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].text, "ctx.pickle");
  EXPECT_EQ(links[1].path, "snapshots/2");
  until([&] { return shows(snapshots, "1", "\"advice\""); });
  until([&] { return shows(snapshots, "2", "cannot be looked at"); });
  clock.advance_seconds(1000);
  EXPECT_NE(snapshots.page("1"), nullptr);
  EXPECT_FALSE(snapshots.page("1")->live) << "it does not change any more";
  EXPECT_FALSE(shows(snapshots, "2", folder.path())) << "no path is shown";
}

TEST(Snapshots, BeginsWithNoneThatIsNotThere) {
  Snapshots snapshots;
  EXPECT_FALSE(snapshots.begin({kSample, "/nowhere"}));
  EXPECT_FALSE(snapshots.begin(std::vector<std::string>(17, kSample)));
}

TEST(Snapshots, EndsInTheMiddleOfASearch) {
  Snapshots snapshots;
  key_of_search(snapshots);
}

}  // namespace
}  // namespace ebb::serve
