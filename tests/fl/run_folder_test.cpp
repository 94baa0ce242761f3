// SPDX-License-Identifier: Apache-2.0
#include "fl/run_folder.h"

#include <sys/stat.h>

#include <fstream>

#include "base/file.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

class RunFolderTest : public testing::Test {
 protected:
  static base::Json round(int number) { return base::Json::object({{"round", number}}); }

  const support::TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "run";
};

TEST_F(RunFolderTest, HasAConfigAndALinePerRound) {
  RunFolder folder(path_ / "deeper");
  ASSERT_TRUE(folder.begin(base::Json::object({{"clients", 10}})));
  ASSERT_TRUE(folder.add_round(round(0)));
  ASSERT_TRUE(folder.add_round(round(1)));
  EXPECT_EQ(*base::read_file(path_ / "deeper/rounds.jsonl"), "{\"round\":0}\n{\"round\":1}\n");
  const auto config = base::parse_json(*base::read_file(path_ / "deeper/config.json"));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->find("clients")->as_int(), 10);
}

TEST_F(RunFolderTest, IsNotWrittenOver) {
  RunFolder folder(path_);
  ASSERT_TRUE(folder.begin(base::Json::object()));
  const auto again = RunFolder(path_).begin(base::Json::object());
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("--resume"), std::string::npos);
}

TEST_F(RunFolderTest, BeginsAgainWhatHasNoCheckpoint) {
  auto killed = std::make_unique<RunFolder>(path_);
  ASSERT_TRUE(killed->begin(base::Json::object({{"clients", 10}})));
  ASSERT_TRUE(killed->add_round(round(0)));
  const auto in_use = RunFolder(path_).begin(base::Json::object(), true);
  ASSERT_FALSE(in_use) << "whoever works there keeps it";
  EXPECT_NE(in_use.error().message.find("another simulation"), std::string::npos);
  EXPECT_EQ(*base::read_file(path_ / "rounds.jsonl"), "{\"round\":0}\n");
  killed.reset();

  RunFolder again(path_);
  ASSERT_TRUE(again.begin(base::Json::object({{"clients", 10}}), true));
  EXPECT_EQ(*base::read_file(path_ / "rounds.jsonl"), "");
  EXPECT_FALSE(RunFolder(path_).take()) << "it belongs to the one that began again";
  ASSERT_TRUE(again.add_round(round(0)));
}

TEST_F(RunFolderTest, BelongsToOneAtATime) {
  auto first = std::make_unique<RunFolder>(path_);
  ASSERT_TRUE(first->begin(base::Json::object()));
  RunFolder second(path_);
  const auto refused = second.take();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another simulation"), std::string::npos);
  first.reset();
  EXPECT_TRUE(second.take());
}

TEST_F(RunFolderTest, LosesTheLinesAfterItsCheckpoint) {
  RunFolder folder(path_);
  ASSERT_TRUE(folder.begin(base::Json::object()));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(folder.add_round(round(i)));
  std::ofstream(path_ / "rounds.jsonl", std::ios::app) << "{\"round\": 3, \"acc";
  const auto kept = folder.keep_rounds(2);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->size(), 2U);
  EXPECT_EQ(*base::read_file(path_ / "rounds.jsonl"), "{\"round\":0}\n{\"round\":1}\n");
}

TEST_F(RunFolderTest, SaysWhichLineIsNotAsItWasWritten) {
  RunFolder folder(path_);
  ASSERT_TRUE(folder.begin(base::Json::object()));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(folder.add_round(round(i)));
  const RoundsSeal seal = folder.seal();
  ASSERT_TRUE(folder.add_round(round(3)));
  EXPECT_TRUE(RunFolder(path_).keep_rounds(3, seal)) << "one more is cut off, as ever";
  std::ofstream(path_ / "rounds.jsonl") << "{\"round\":0}\n{\"round\":7}\n{\"round\":2}\n";
  EXPECT_TRUE(RunFolder(path_).keep_rounds(3)) << "where nothing is known, nothing is refused";
  const auto refused = RunFolder(path_).keep_rounds(3, seal);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("rounds.jsonl: line 2: "), std::string::npos)
      << refused.error().message;
}

TEST_F(RunFolderTest, WhatIsNoFileIsRefusedAndNotReadFrom) {
  RunFolder folder(path_);
  ASSERT_TRUE(folder.begin(base::Json::object()));
  ASSERT_EQ(mkfifo((path_ / "checkpoint").c_str(), 0600), 0);
  const auto refused = RunFolder(path_).take();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("checkpoint: is no file"), std::string::npos);
}

TEST_F(RunFolderTest, SaysWhichLineIsMissing) {
  RunFolder folder(path_);
  ASSERT_TRUE(folder.begin(base::Json::object()));
  ASSERT_TRUE(folder.add_round(round(0)));
  const auto kept = folder.keep_rounds(2);
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("line 2"), std::string::npos) << kept.error().message;
}

}  // namespace
}  // namespace ebb::fl
