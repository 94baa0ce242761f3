// SPDX-License-Identifier: Apache-2.0
#include "run/words.h"

#include <gtest/gtest.h>

#include "support/process_state.h"

namespace ebb::run {
namespace {

Words words_for(const std::string& command) {
  Words words;
  words.command = {command, "--flag"};
  words.db = "/somewhere/runs.db";
  return words;
}

std::string refusal_of(const Words& words) {
  std::vector<std::string> notes;
  const auto options = options_from(words, notes);
  return options ? "" : options.error().message;
}

TEST(RunWords, GiveTheRunTheNameOfTheCommand) {
  std::vector<std::string> notes;
  const auto options = options_from(words_for("/usr/bin/sleep"), notes);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->name, "sleep");
  EXPECT_EQ(options->record_path, "/somewhere/runs.db");
  EXPECT_TRUE(options->manage);
  EXPECT_EQ(notes, std::vector<std::string>{});
}

TEST(RunWords, RefuseANameByWhichTheRunCouldNotBeFound) {
  Words words = words_for("sleep");
  words.name = "last";
  EXPECT_EQ(refusal_of(words), "--name 'last': expected a name; last is the newest run");
  words.name = "17";
  EXPECT_EQ(refusal_of(words), "--name '17': expected a name; numbers are given by the record");
}

TEST(RunWords, RefuseWhatNamesNoWayOrNoTime) {
  Words words = words_for("sleep");
  words.on_critical = "kill";
  EXPECT_EQ(refusal_of(words), "--on-critical 'kill': expected clean or stop");
  words = words_for("sleep");
  words.interval = "1ms";
  EXPECT_EQ(refusal_of(words), "--interval '1ms': expected 10ms to 1h");
}

TEST(RunWords, SampleAllocationsOrAlsoSmallObjects) {
  std::vector<std::string> notes;
  Words words = words_for("sleep");
  EXPECT_EQ(options_from(words, notes)->sites, Sites::where_possible);
  words.sites = "allocations";
  EXPECT_EQ(options_from(words, notes)->sites, Sites::asked_for);
  EXPECT_FALSE(options_from(words, notes)->objects);
  words.sites = "objects";
  EXPECT_EQ(options_from(words, notes)->sites, Sites::asked_for);
  EXPECT_TRUE(options_from(words, notes)->objects);
  words.sites = "arenas";
  EXPECT_EQ(refusal_of(words), "--sites 'arenas': expected --sites or --sites=objects");
}

TEST(RunWords, SampleNothingWhereThatIsAskedForOrNobodyCouldReadIt) {
  for (bool Words::*without : {&Words::no_sites, &Words::observe, &Words::no_record}) {
    std::vector<std::string> notes;
    Words words = words_for("sleep");
    words.*without = true;
    EXPECT_EQ(options_from(words, notes)->sites, Sites::no);
    words.sites = "allocations";
    EXPECT_TRUE(refusal_of(words).starts_with("--sites and --")) << refusal_of(words);
  }
  Words words = words_for("sleep");
  words.sites = "objects";
  words.no_sites = true;
  EXPECT_EQ(refusal_of(words), "--sites and --no-sites: expected one of them");
  words.no_sites = false;
  words.no_record = true;
  EXPECT_EQ(refusal_of(words),
            "--sites and --no-record: expected one of them, since sites are sampled inside the job "
            "and kept in the record");
}

TEST(RunWords, RefuseToChangeAJobThatIsOnlyToBeObserved) {
  Words words = words_for("sleep");
  words.nvflare = true;
  words.observe = true;
  EXPECT_EQ(refusal_of(words),
            "--nvflare and --observe: expected one of them, since one changes the job");
}

TEST(RunWords, NameTheOptionsAboutCardsThatWereGiven) {
  Words words = words_for("sleep");
  words.gpu_warn = 80;
  words.headroom = 1 << 20;
  std::vector<std::string> notes;
  const auto options = options_from(words, notes);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->card_options, "--gpu-warn, --headroom");
  EXPECT_EQ(options->cards.percent.warn, 80);
}

TEST(RunWords, SayInANoteThatThereIsNoPlaceForARecord) {
  const support::ScopedVariable home("HOME", std::nullopt);
  const support::ScopedVariable state("XDG_STATE_HOME", std::nullopt);
  Words words = words_for("sleep");
  words.db = "";
  std::vector<std::string> notes;
  const auto options = options_from(words, notes);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->record_path, "");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("nothing is recorded: ")) << notes[0];
}

}  // namespace
}  // namespace ebb::run
