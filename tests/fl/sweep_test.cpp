// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep.h"

#include <fstream>

#include "base/file.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

class SweepTest : public testing::Test {
 protected:
  static Sweep two_methods() {
    Sweep sweep;
    sweep.config.rounds = 3;
    sweep.methods = {"heuristic.random", "system_aware.poc"};
    sweep.parameters = {{}, {{"d", 5}}};
    sweep.seeds = {1, 2};
    return sweep;
  }
  std::string write(const std::string& text) const {
    const std::string path = directory_ / "config.json";
    std::ofstream(path) << text;
    return path;
  }

  const support::TemporaryDirectory directory_;
};

TEST_F(SweepTest, EachSimulationHasItsMethodAndSeed) {
  const Config config = two_methods().config_of(1, 1);
  EXPECT_EQ(config.method, "system_aware.poc");
  EXPECT_EQ(config.method_parameters, (ParameterValues{{"d", 5}}));
  EXPECT_EQ(config.seed, 2u);
  EXPECT_EQ(config.synthetic.seed, 2u);
  EXPECT_EQ(config.rounds, 3u);
}

TEST_F(SweepTest, WhatWasWrittenIsReadAgain) {
  const auto read = read_sweep(write(to_json(two_methods()).text()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->config.rounds, 3u);
  EXPECT_EQ(read->methods, two_methods().methods);
  EXPECT_EQ(read->seeds, two_methods().seeds);
  ASSERT_EQ(read->method_options.size(), 1u);
  EXPECT_EQ(read->method_options[0].rfind("system_aware.poc:d=5", 0), 0u);
}

TEST_F(SweepTest, AFileHasNvflaresSettings) {
  const auto read = read_sweep(
      write(R"({"rounds": 7, "server_memory_gc_rounds": 5, "cuda_empty_cache": false})"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->config.rounds, 7U);
  EXPECT_EQ(read->nvflare.server_memory_gc_rounds, 5);
  EXPECT_EQ(read->nvflare.cuda_empty_cache, false);
  EXPECT_FALSE(read->nvflare.client_memory_gc_rounds || read->nvflare.memory_gc_rounds);
  const auto wrong = read_sweep(write(R"({"memory_gc_rounds": "often"})"));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("memory_gc_rounds: \"often\", expected a whole number"),
            std::string::npos)
      << wrong.error().message;
}

TEST_F(SweepTest, AWrongFileIsNamedWithWhatIsWrong) {
  const auto no_list = read_sweep(write(R"({"methods": "heuristic.random"})"));
  ASSERT_FALSE(no_list);
  EXPECT_NE(no_list.error().message.find("config.json: methods: expected a list"),
            std::string::npos);
  const auto no_number = read_sweep(write(R"({"seeds": [1, "two"]})"));
  ASSERT_FALSE(no_number);
  EXPECT_NE(no_number.error().message.find("seeds: expected whole numbers"), std::string::npos);
}

TEST_F(SweepTest, SeveralSimulationsGetAFolderEach) {
  const std::string path = directory_ / "sweep";
  const auto ranks = alone();
  const auto folder = SweepFolder::open(two_methods(), path, "compare", *ranks);
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->of(two_methods(), 0, 1), path + "/heuristic.random-seed2");
  EXPECT_TRUE(read_sweep(path + "/" + kComparisonFile));
}

TEST_F(SweepTest, OneSimulationLiesInTheFolderItself) {
  Sweep one = two_methods();
  one.methods.resize(1);
  one.seeds.resize(1);
  const std::string path = directory_ / "one";
  const auto ranks = alone();
  const auto folder = SweepFolder::open(one, path, "heuristic.random", *ranks);
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->of(one, 0, 0), path);
  EXPECT_FALSE(std::filesystem::exists(path + "/" + kComparisonFile));
}

}  // namespace
}  // namespace ebb::fl
