// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep_words.h"

#include "base/file.h"
#include "support/temporary_directory.h"

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

TEST(SweepWords, ACosineEndsWhereItDidWhenTheRunIsMadeLonger) {
  SweepWords words;
  write(words, "lr_schedule", "cosine");
  write(words, "lr_warmup", "2");
  write(words, "rounds", "12");
  const auto sweep = sweep_from(words);
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->config.schedule.t_max, 10U);
}

class ModelFiles : public testing::Test {
 protected:
  ModelFiles() { write_layers("128"); }

  void write_layers(const std::string& width) {
    directory_.write("my.json", R"({"layers": [{"type": "linear", "out_features": )" + width +
                                    R"(}, {"type": "linear", "out_features": "classes"}]})");
  }
  /// As a simulation leaves it in its folder.
  std::string begun() {
    SweepWords words;
    write(words, "model", path_);
    const auto sweep = sweep_from(words);
    EXPECT_TRUE(sweep) << sweep.error().message;
    if (!sweep) return "";
    directory_.write("run/config.json", to_json(sweep->config).text(true));
    return directory_ / "run";
  }

  const support::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "my.json";
};

TEST_F(ModelFiles, BecomeAPartOfTheConfiguration) {
  SweepWords words;
  write(words, "model", path_);
  const auto sweep = sweep_from(words);
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->config.model, path_);
  ASSERT_TRUE(sweep->config.network);
  std::filesystem::remove(path_);
  const auto network = network_of(sweep->config, {1, 28, 28}, 10);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->name, "my");
  EXPECT_EQ(*network->parameters(), (784U + 1) * 128 + 129 * 10);
}

TEST_F(ModelFiles, OfASimulationThatIsResumedMayBeGoneOrLaidOutAnew) {
  SweepWords words;
  words.resume = begun();
  const auto kept = sweep_from(words);
  ASSERT_TRUE(kept) << kept.error().message;
  write_layers("   128  ");
  const auto laid_out = sweep_from(words);
  ASSERT_TRUE(laid_out) << laid_out.error().message;
  EXPECT_EQ(laid_out->config.network, kept->config.network);
  std::filesystem::remove(path_);
  const auto gone = sweep_from(words);
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(gone->config.network, kept->config.network);
}

TEST_F(ModelFiles, ThatHaveChangedAreRefusedOnResume) {
  SweepWords words;
  words.resume = begun();
  write_layers("64");
  EXPECT_EQ(refusal(words), path_ +
                                ": has changed since the simulation was begun, expected "
                                "\"network\" of its config.json");
  // Naming it again does not help; a new simulation takes it as it is.
  write(words, "model", path_);
  EXPECT_NE(refusal(words), "none");
  SweepWords anew;
  anew.config = words.resume + "/config.json";
  write(anew, "model", path_);
  const auto sweep = sweep_from(anew);
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_NE(sweep->config.network->find("64"), std::string::npos);
}

TEST_F(ModelFiles, ThatAreNoneAreNamed) {
  SweepWords words;
  write(words, "model", directory_ / "other.json");
  EXPECT_EQ(refusal(words),
            (directory_ / "other.json") +
                std::string(": no such file, expected a JSON description of a model"));
  SweepWords wrong;
  write_layers("0");
  write(wrong, "model", path_);
  EXPECT_EQ(refusal(wrong), path_ + ": layers[0].out_features: 0, expected 1 to 65536");
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
