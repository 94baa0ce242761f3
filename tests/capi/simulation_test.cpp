// SPDX-License-Identifier: Apache-2.0
// Simulations from C and C++, with the real program.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/json.h"
#include "ebb/ebb.h"
#include "ebb/ebb.hpp"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace {

namespace files = std::filesystem;
using ebb::base::Json;

/// So small that a round takes milliseconds; nothing is written.
std::string options(const std::string& more) {
  return R"({"dataset": "synthetic", "synthetic_train": 300, "synthetic_test": 100, "clients": 8,
             "per_round": 3, "batch": 16, "backend": "native", "no_folder": true,
             "no_record": true, )" +
         more + "}";
}

/// More rounds than anybody waits for.
std::string endless() {
  return options(R"("rounds": 1000000)");
}

Json parsed(std::string_view text) {
  auto json = ebb::base::parse_json(text);
  EXPECT_TRUE(json) << text;
  return json ? *json : Json();
}

std::string text_of(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found == nullptr || found->as_string() == nullptr ? "" : *found->as_string();
}

bool is_stopped(const Json& result) {
  const Json* stopped = result.find("stopped");
  return stopped != nullptr && stopped->as_bool().value_or(false);
}

/// Neither running nor waiting to be reaped.
bool is_gone(int pid) {
  return kill(pid, 0) != 0 && errno == ESRCH;
}

std::ptrdiff_t descriptors() {
  return std::distance(files::directory_iterator("/proc/self/fd"), {});
}

std::string last_error() {
  return ebb_last_error();
}

TEST(CapiSimulation, RoundsComeAsTheyEndAndThenTheResult) {
  ebb::Simulation simulation(options(R"("rounds": 3, "seeds": [1, 2])"));
  EXPECT_GT(simulation.pid(), 0);
  std::vector<std::uint64_t> rounds;
  const Json result = parsed(simulation.wait([&](std::string_view line) {
    const Json round = parsed(line);
    EXPECT_EQ(text_of(round, "event"), "round");
    EXPECT_EQ(text_of(round, "method"), "heuristic.random");
    EXPECT_NE(round.find("accuracy"), nullptr);
    rounds.push_back(*round.find("seed")->as_unsigned() * 10 + *round.find("round")->as_unsigned());
    return true;
  }));
  EXPECT_EQ(rounds, (std::vector<std::uint64_t>{10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(result.find("rounds")->as_array()->size(), 3U);
  EXPECT_EQ(result.find("repeats")->as_array()->size(), 1U);
  EXPECT_FALSE(is_stopped(result));
  EXPECT_TRUE(is_gone(simulation.pid())) << "it is reaped";
  EXPECT_EQ(parsed(simulation.wait()).text(), result.text()) << "the same, asked again";
  EXPECT_EQ(simulation.next(), std::nullopt);
}

TEST(CapiSimulation, ACallComparesToTheEnd) {
  char* text = nullptr;
  const std::string arguments =
      options(R"("rounds": 1, "methods": ["heuristic.random", "system_aware.oort"])");
  ASSERT_EQ(ebb_call("compare", arguments.c_str(), &text), EBB_OK) << last_error();
  const Json result = parsed(text);
  ebb_free(text);
  EXPECT_EQ(result.find("methods")->as_array()->size(), 2U);
  EXPECT_EQ(result.find("ranking")->as_array()->size(), 2U);
}

TEST(CapiSimulation, AConfigurationOfAResultIsOneAgain) {
  char* text = nullptr;
  const std::string arguments =
      options(R"("rounds": 1, "method": "system_aware.poc", "method_parameters": {"pool": 2})");
  ASSERT_EQ(ebb_call("simulate", arguments.c_str(), &text), EBB_OK) << last_error();
  const Json first = parsed(text);
  ebb_free(text);
  Json config = *first.find("config");
  config.set("no_folder", true).set("no_record", true);
  ASSERT_EQ(ebb_call("simulate", config.text().c_str(), &text), EBB_OK) << last_error();
  const Json second = parsed(text);
  ebb_free(text);
  EXPECT_EQ(first.find("config")->text(), second.find("config")->text());
  EXPECT_EQ(text_of(first, "model_sha256"), text_of(second, "model_sha256"));
}

TEST(CapiSimulation, PlansAndListsComeAtOnce) {
  char* text = nullptr;
  ASSERT_EQ(ebb_call("simulate", options(R"("dry_run": true)").c_str(), &text), EBB_OK);
  EXPECT_NE(parsed(text).find("plan"), nullptr);
  ebb_free(text);
  ASSERT_EQ(ebb_call("simulate", R"({"list": true})", &text), EBB_OK);
  EXPECT_NE(parsed(text).find("datasets"), nullptr);
  ebb_free(text);
}

TEST(CapiSimulation, ACallbackStopsItAfterTheRound) {
  ebb::Simulation simulation(endless());
  const auto first = simulation.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(parsed(*first).find("round")->as_unsigned(), 0U);
  int calls = 0;
  const Json result = parsed(simulation.wait([&](std::string_view) { return ++calls < 2; }));
  EXPECT_TRUE(is_stopped(result));
  EXPECT_GE(result.find("rounds")->as_array()->size(), 3U);
}

TEST(CapiSimulation, AnyThreadStopsItAndATimeLimitEndsOnlyTheWaiting) {
  ebb::Simulation simulation(endless());
  EXPECT_EQ(simulation.wait_for(0), std::nullopt) << "it cannot have ended";
  std::thread other;
  const Json result = parsed(simulation.wait([&](std::string_view) {
    if (!other.joinable()) other = std::thread([&] { simulation.stop(true); });
    return true;
  }));
  other.join();
  EXPECT_TRUE(is_stopped(result)) << "and this is all there is to say";
  EXPECT_TRUE(is_gone(simulation.pid()));
  simulation.stop();
}

TEST(CapiSimulation, WhatACallbackThrowsEndsItAndComesBack) {
  ebb::Simulation simulation(endless());
  EXPECT_THROW(simulation.wait([](std::string_view) -> bool { throw std::range_error("mine"); }),
               std::range_error);
  EXPECT_TRUE(is_gone(simulation.pid()));
}

TEST(CapiSimulation, AProcessThatDiesIsAnErrorWithItsLastWords) {
  ebb::Simulation simulation(endless());
  try {
    simulation.wait([&](std::string_view) { return kill(simulation.pid(), SIGKILL) == 0; });
    FAIL() << "expected an error";
  } catch (const ebb::Error& error) {
    EXPECT_EQ(error.code(), EBB_IO);
    EXPECT_NE(std::string(error.what()).find("ended by signal 9"), std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(is_gone(simulation.pid()));
}

TEST(CapiSimulation, AnObjectThatGoesTakesItsProcessWithIt) {
  const std::ptrdiff_t before = descriptors();
  int pid = 0;
  {
    ebb::Simulation first(endless());
    pid = first.pid();
    ebb::Simulation moved = std::move(first);
    EXPECT_EQ(moved.pid(), pid);
    EXPECT_EQ(first.pid(), 0);
  }
  EXPECT_TRUE(is_gone(pid));
  EXPECT_EQ(descriptors(), before);
}

TEST(CapiSimulation, AForkedChildNeitherFollowsNorEndsIt) {
  ebb_simulation* simulation = nullptr;
  ASSERT_EQ(ebb_simulation_start("simulate", endless().c_str(), &simulation), EBB_OK);
  EXPECT_TRUE(ebb::support::holds_in_child([&] {
    char* line = nullptr;
    const bool refused = ebb_simulation_next(simulation, -1, &line, nullptr) == EBB_UNAVAILABLE &&
                         ebb_simulation_stop(simulation, 1) == EBB_UNAVAILABLE;
    ebb_simulation_destroy(simulation);
    return refused;
  }));
  for (int i = 0; i < 3; ++i) {
    char* line = nullptr;
    int ended = 1;
    ASSERT_EQ(ebb_simulation_next(simulation, -1, &line, &ended), EBB_OK) << last_error();
    EXPECT_EQ(ended, 0);
    ASSERT_NE(line, nullptr);
    ebb_free(line);
  }
  ebb_simulation_destroy(simulation);
}

TEST(CapiSimulation, OptionsThatCannotBeAreNamed) {
  const auto refused = [](const std::string& options, const std::string& part) {
    char* text = nullptr;
    EXPECT_EQ(ebb_call("simulate", options.c_str(), &text), EBB_BAD_INPUT) << options;
    EXPECT_NE(last_error().find(part), std::string::npos) << last_error();
    EXPECT_EQ(last_error().find('\n'), std::string::npos);
  };
  refused(R"({"rouns": 3})", "did you mean --rounds?");
  refused(R"({"rounds": "many"})", "many");
  refused(R"({"rounds": {"of": 3}})", "rounds");
  refused(R"({"--rounds": 3})", "--rounds");
  refused(R"({"stream": true})", "only for the command line");
  refused(R"({"dataset": "synth\u0000"})", "zero byte");
  refused(options(R"("memory": "1MiB")"), "memory");
  ebb_simulation* simulation = nullptr;
  EXPECT_EQ(ebb_simulation_start("dance", "{}", &simulation), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_simulation_start("simulate", "[]", &simulation), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_simulation_start("simulate", "{", &simulation), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_simulation_start(nullptr, "{}", &simulation), EBB_BAD_INPUT);
  EXPECT_EQ(ebb_simulation_wait(nullptr, -1, nullptr, nullptr, nullptr), EBB_BAD_INPUT);
  ebb_simulation_destroy(nullptr);
}

TEST(CapiSimulation, TheVariableNamesTheProgramBeforeAllOthers) {
  const ebb::support::TemporaryDirectory directory;
  const std::string program = directory / "chosen";
  std::ofstream(program) << "#!/bin/sh\necho 'ebb: I was chosen' >&2\nexit 3\n";
  files::permissions(program, files::perms::owner_all);
  char* text = nullptr;
  setenv("EBB_SIMULATE", program.c_str(), 1);
  EXPECT_EQ(ebb_call("simulate", "{}", &text), EBB_UNAVAILABLE);
  EXPECT_EQ(last_error(), "I was chosen");
  setenv("EBB_SIMULATE", (directory / "nobody").c_str(), 1);
  EXPECT_EQ(ebb_call("simulate", "{}", &text), EBB_UNAVAILABLE);
  EXPECT_NE(last_error().find("nobody"), std::string::npos) << last_error();
  unsetenv("EBB_SIMULATE");
  EXPECT_EQ(ebb_call("simulate", R"({"list": true})", &text), EBB_OK) << last_error();
  ebb_free(text);
}

}  // namespace
