// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep_words.h"

namespace ebb::fl {
namespace {

/// Writes `text` behind an option, as the command line does.
void write(SweepWords& words, std::string_view key, std::string_view text) {
  const base::Options options = options_of(words);
  const base::Option* option = base::find(options, key);
  ASSERT_NE(option, nullptr) << key;
  EXPECT_TRUE(base::set_text(*option, text)) << key;
}

std::string refusal(const SweepWords& words) {
  const auto sweep = sweep_from(words);
  if (sweep) return "none";
  EXPECT_EQ(sweep.error().code, base::Code::bad_input);
  return sweep.error().message;
}

TEST(SweepWords, WithoutAnyThereIsOneSimulationOfTheDefaults) {
  const auto sweep = sweep_from({});
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_TRUE(sweep->is_single());
  EXPECT_EQ(to_json(sweep->config).text(), to_json(Config{}).text());
}

TEST(SweepWords, EverySettingIsWrittenUnderItsOwnName) {
  SweepWords words;
  write(words, "clients", "20");
  write(words, "aggregation", "median");
  write(words, "method", "system_aware.oort");
  write(words, "seed", "7");
  write(words, "repeats", "3");
  const auto sweep = sweep_from(words);
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->config.clients, 20U);
  EXPECT_EQ(sweep->config.aggregation.rule, Rule::median);
  EXPECT_EQ(sweep->methods, std::vector<std::string>{"system_aware.oort"});
  EXPECT_EQ(sweep->seeds, (std::vector<std::uint64_t>{7, 8, 9}));
}

TEST(SweepWords, OnlyAComparisonTakesSeveralMethods) {
  SweepWords words;
  EXPECT_EQ(base::find(options_of(words), "methods"), nullptr);
  words.compare = true;
  EXPECT_EQ(base::find(options_of(words), "method"), nullptr);
  EXPECT_EQ(refusal(words).substr(0, 20), "--methods is missing");
  write(words, "methods", "heuristic.random, system_aware.oort");
  write(words, "seeds", "3,1");
  const auto sweep = sweep_from(words);
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->methods, (std::vector<std::string>{"heuristic.random", "system_aware.oort"}));
  EXPECT_EQ(sweep->config_of(1, 0).seed, 3U);
}

TEST(SweepWords, WhatCannotBeSimulatedIsNamed) {
  const auto of = [](std::string_view key, std::string_view text) {
    SweepWords words;
    write(words, key, text);
    return refusal(words);
  };
  EXPECT_EQ(of("clients", "ten"), "--clients 'ten': expected a whole number from 0 to 4294967295");
  EXPECT_EQ(of("rounds", "0"), "rounds 0, expected at least 1");
  EXPECT_EQ(of("seeds", "1,1"), "--seeds: 1 stands there twice");
  EXPECT_EQ(of("seeds", "1,x"), "--seeds '1,x': expected whole numbers with commas between them");
  EXPECT_EQ(of("repeats", "0"), "--repeats '0': expected a whole number from 1 to 1000");
  EXPECT_EQ(of("method_option", "epsilon"),
            "--method-option 'epsilon': expected name=value or method:name=value");
  EXPECT_EQ(of("model", "resnet81").substr(0, 24), "unknown model 'resnet81'");
}

}  // namespace
}  // namespace ebb::fl
