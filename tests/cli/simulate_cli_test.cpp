// SPDX-License-Identifier: Apache-2.0
// `ebb simulate` and `ebb compare`, run as a user runs them, on synthetic data so small that a
// simulation takes about a second.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

namespace files = std::filesystem;
using support::Finished;
using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class EbbSimulate : public testing::Test {
 protected:
  /// Ebb in a folder of the test's own, with a record of its own.
  Finished ebb(Words words) const { return support::run(command(std::move(words))); }

  Words command(Words words) const {
    words.insert(words.begin(),
                 {"env", "--chdir=" + here(), "XDG_STATE_HOME=" + here(), EBB_PROGRAM});
    return words;
  }

  std::string here() const { return folder_.path(); }
  std::string file(const std::string& name) const { return here() + "/" + name; }

  static Words tiny(const Words& more = {}) {
    return joined({"--dataset", "synthetic", "--synthetic-train", "300", "--synthetic-test", "100",
                   "--clients", "8", "--per-round", "3", "--rounds", "4", "--batch", "16",
                   "--backend", "native"},
                  more);
  }

  base::Json json_of(Words words) const {
    words.emplace_back("--json");
    const Finished finished = ebb(std::move(words));
    EXPECT_EQ(finished.status, 0) << finished.error;
    auto json = base::parse_json(finished.output);
    EXPECT_TRUE(json) << finished.output;
    return json ? *std::move(json) : base::Json();
  }

  std::string model_of(const Words& words) const {
    const base::Json json = json_of(words);
    const base::Json* hash = json.find("model_sha256");
    EXPECT_NE(hash, nullptr);
    return hash == nullptr || hash->as_string() == nullptr ? "" : *hash->as_string();
  }

  void expect_refused(const Words& words, const std::string& part, int status = 2) const {
    const Finished finished = ebb(words);
    EXPECT_EQ(finished.status, status) << finished.error;
    EXPECT_EQ(finished.output, "");
    EXPECT_TRUE(finished.error.starts_with("ebb: ")) << finished.error;
    EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
    EXPECT_NE(finished.error.find(part), std::string::npos) << finished.error;
    EXPECT_FALSE(files::exists(file("ebb-runs"))) << "nothing half-written";
  }

  /// Starts it in a new folder, waits until a tenth of its rounds is done, and sends it `signal`.
  /// One that came to its end before the signal came was not interrupted, and begins anew.
  int interrupted(const Words& words, const std::string& folder, int signal,
                  std::string* said = nullptr) const {
    int status = 0;
    for (int i = 0; i < 50 && status == 0; ++i) {
      files::remove_all(folder);
      status = signalled(joined(words, {"--folder", folder}), signal, said);
    }
    return status;
  }

  int signalled(const Words& words, int signal, std::string* said) const {
    Words command_words = command(words);
    // Progress is on stderr: read both as one.
    Words shell = {"sh", "-c", "exec \"$@\" 2>&1", "sh"};
    support::Subprocess child(joined(shell, command_words));
    std::string line;
    do {
      line = child.read_line();
    } while (!line.empty() ? line.find(": round ") == std::string::npos : !ended(child));
    kill(child.pid(), signal);
    const std::string rest = child.read_rest_of_output();
    if (said != nullptr) *said = rest;
    return child.wait();
  }

  static bool ended(const support::Subprocess& child) {
    siginfo_t how{};
    waitid(P_PID, static_cast<id_t>(child.pid()), &how, WEXITED | WNOHANG | WNOWAIT);
    return how.si_pid != 0;
  }

  support::TemporaryDirectory folder_;
};

Words simulate(const Words& words) {
  return joined({"simulate"}, words);
}

TEST_F(EbbSimulate, UnknownNamesGetTheNearest) {
  expect_refused(simulate(tiny({"--method", "heuristic.randon"})), "heuristic.random");
  expect_refused(joined({"compare", "--methods", "heuristic.random,system_aware.ort"}, tiny()),
                 "system_aware.oort");
  expect_refused(simulate({"--dataset", "fashion-mnst"}), "fashion-mnist");
  expect_refused(simulate(tiny({"--model", "cnn-mnis"})), "cnn-mnist");
  expect_refused(simulate(tiny({"--partition", "dirichle"})), "dirichlet");
  expect_refused(simulate(tiny({"--rule", "fedav"})), "fedavg");
  expect_refused(simulate(tiny({"--workflow", "sever"})), "server");
  expect_refused(simulate(tiny({"--rouns", "3"})), "did you mean --rounds?");
  expect_refused(simulate(tiny({"--method-option", "nothing=1"})), "nothing");
}

TEST_F(EbbSimulate, WithoutTheSimulatorBesideItEbbSaysSo) {
  files::copy_file(EBB_PROGRAM, file("ebb"));
  const Finished finished = support::run({file("ebb"), "compare", "--list"});
  EXPECT_EQ(finished.status, 3);
  EXPECT_TRUE(finished.error.starts_with("ebb: ebb compare needs the program")) << finished.error;
  EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
}

TEST_F(EbbSimulate, NumbersThatAreNoneAreNamed) {
  expect_refused(simulate(tiny({"--clients", "ten"})), "--clients 'ten': expected a whole number");
  expect_refused(simulate(tiny({"--lr", "fast"})), "--lr 'fast': expected a number");
  expect_refused(simulate(tiny({"--memory", "much"})), "--memory");
  expect_refused(simulate(tiny({"--parallel-clients", "0"})), "--parallel-clients '0'");
  expect_refused(simulate(tiny({"--repeats", "none"})), "--repeats 'none'");
  expect_refused(simulate(tiny({"--seeds", "1,x"})), "--seeds '1,x'");
  expect_refused(simulate(tiny({"--seeds", "1,1"})), "1 stands there twice");
  expect_refused(simulate(tiny({"--per-round", "9"})), "per_round 9");
  expect_refused(simulate(tiny({"--method-option", "epsilon"})), "name=value");
  expect_refused(simulate(tiny({"--critical", "10"})), "10");
}

TEST_F(EbbSimulate, WhatGoesWrongOnAThreadIsAnErrorOfTheSimulation) {
  // More than a float holds: the arithmetic itself refuses it, on every thread.
  const Finished done =
      ebb(simulate(tiny({"--lr", "3.5e38", "--threads", "2", "--no-folder", "--quiet"})));
  EXPECT_GE(done.status, 1) << "no signal ended it";
  EXPECT_LE(done.status, 2);
  EXPECT_TRUE(done.error.starts_with("ebb: ")) << done.error;
  EXPECT_EQ(done.error.find('\n'), done.error.size() - 1) << done.error;
}

TEST_F(EbbSimulate, TooFewSamplesAndTooLittleMemoryAreRefusedWithTheNumber) {
  expect_refused(simulate(tiny({"--clients", "1000"})), "300");
  expect_refused(simulate(tiny({"--memory", "1MiB"})), "MiB");
}

TEST_F(EbbSimulate, ADamagedDataFileIsNamed) {
  std::ofstream(file("train-images-idx3-ubyte")) << "these are no pictures";
  expect_refused(simulate({"--dataset", "mnist", "--data", here()}), "train-images-idx3-ubyte");
  expect_refused(simulate({"--dataset", "mnist", "--data", here() + "/nowhere"}), "nowhere");
}

TEST_F(EbbSimulate, APageThatCannotBeWrittenIsRefusedBeforeTheFirstRound) {
  const Words compare = {"compare", "--methods", "heuristic.random,system_aware.oort"};
  for (const Words& verb : {Words{"simulate"}, compare}) {
    const Words asked = joined(verb, {"--folder", file("never"), "--html"});
    expect_refused(joined(joined(asked, {file("nowhere/page.html")}), tiny()), "nowhere/page.html");
    expect_refused(joined(joined(asked, {here()}), tiny()), "a folder, expected a file");
  }
  EXPECT_FALSE(files::exists(file("never")));
}

TEST_F(EbbSimulate, ADamagedConfigurationIsNamed) {
  std::ofstream(file("cut.json")) << R"({"rounds": 3, )";
  expect_refused(simulate({"--config", file("cut.json")}), "cut.json");
  std::ofstream(file("wrong.json")) << R"({"rouds": 3})";
  expect_refused(simulate({"--config", file("wrong.json")}), "rounds");
  std::ofstream(file("kind.json")) << R"({"rounds": "three"})";
  expect_refused(simulate({"--config", file("kind.json")}), "rounds");
  std::ofstream(file("list.json")) << R"({"seeds": 3})";
  expect_refused(simulate({"--config", file("list.json")}), "seeds: expected a list");
  expect_refused(simulate({"--config", file("none.json")}), "none.json");
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  expect_refused(simulate({"--config", file("pipe")}), "pipe: expected a regular file");
  expect_refused(simulate({"--resume", file("none")}), "--resume");
}

TEST_F(EbbSimulate, ListsMethodsModelsAndDataSets) {
  const Finished shown = ebb({"simulate", "--list"});
  EXPECT_EQ(shown.status, 0) << shown.error;
  for (const char* name : {"heuristic.random", "system_aware.oort", "21840", "fashion-mnist"})
    EXPECT_NE(shown.output.find(name), std::string::npos) << name << "\n" << shown.output;
  const base::Json json = json_of({"simulate", "--list"});
  for (const char* key : {"methods", "models", "datasets"})
    EXPECT_GE(json.find(key)->as_array()->size(), 4U) << key;
}

TEST_F(EbbSimulate, ADryRunShowsPlanAndConfigurationAndWritesNothing) {
  const Finished shown = ebb(simulate(tiny({"--dry-run"})));
  EXPECT_EQ(shown.status, 0) << shown.error;
  for (const char* part : {"memory for", "planned", "available", "\"per_round\": 3"})
    EXPECT_NE(shown.output.find(part), std::string::npos) << part << "\n" << shown.output;
  const base::Json json = json_of(simulate(tiny({"--dry-run"})));
  EXPECT_NE(json.find("plan"), nullptr);
  EXPECT_EQ(json.find("config")->find("clients")->as_int(), 8);
  EXPECT_FALSE(files::exists(file("ebb-runs")));
}

TEST_F(EbbSimulate, StreamsRoundsAsLinesBeforeTheResult) {
  expect_refused(simulate(tiny({"--stream"})), "--stream: expected --json");
  const Finished shown = ebb({"compare",
                              "--methods",
                              "heuristic.random,system_aware.oort",
                              "--dataset",
                              "synthetic",
                              "--synthetic-train",
                              "300",
                              "--synthetic-test",
                              "100",
                              "--clients",
                              "8",
                              "--per-round",
                              "3",
                              "--rounds",
                              "2",
                              "--backend",
                              "native",
                              "--seeds",
                              "5",
                              "--json",
                              "--stream",
                              "--quiet",
                              "--no-record"});
  ASSERT_EQ(shown.status, 0) << shown.error;
  std::vector<base::Json> lines;
  for (const std::string_view line : base::split(shown.output, '\n')) {
    if (line.empty()) continue;
    const auto json = base::parse_json(line);
    ASSERT_TRUE(json) << line;
    lines.push_back(*json);
  }
  ASSERT_EQ(lines.size(), 5U) << shown.output;
  const base::Json& result = lines.back();
  EXPECT_EQ(result.find("event"), nullptr);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    base::Json line = lines[i];
    const base::Json& method = result.find("methods")->as_array()->at(i / 2);
    EXPECT_EQ(*line.find("event")->as_string(), "round");
    EXPECT_EQ(line.find("method")->text(), method.find("method")->text());
    EXPECT_EQ(line.find("seed")->as_int(), 5);
    for (const auto& [key, value] : *method.find("rounds")->as_array()->at(i % 2).as_object()) {
      ASSERT_NE(line.find(key), nullptr) << key;
      EXPECT_EQ(line.find(key)->text(), value.text()) << key;
    }
  }
}

TEST_F(EbbSimulate, StopsAfterItsRoundWhereNobodyReadsTheStreamAnyMore) {
  support::Subprocess child(command(
      simulate(tiny({"--rounds", "1000000", "--json", "--stream", "--folder", file("run")}))));
  EXPECT_NE(child.read_line().find("\"round\":0"), std::string::npos);
  child.close_output();
  const std::string said = child.read_rest_of_error();
  EXPECT_EQ(child.wait(), 1) << "as if it had been asked to stop";
  EXPECT_NE(said.find("--resume"), std::string::npos) << said;
  EXPECT_TRUE(files::exists(file("run/checkpoint")));
}

TEST_F(EbbSimulate, AStreamThatCannotBeWrittenIsOneLineAndTheRoundIsKept) {
  Words words = {"sh", "-c", "exec \"$@\" > /dev/full", "sh"};
  const Finished done =
      support::run(joined(words, command(simulate(tiny({"--rounds", "1000000", "--json", "--stream",
                                                        "--quiet", "--folder", file("run")})))));
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.error.find("ebb: cannot write the answer to stdout: No space left on device\n"),
            std::string::npos)
      << done.error;
  EXPECT_TRUE(files::exists(file("run/checkpoint")));
  const Finished listed = support::run(joined(words, command({"simulate", "--list"})));
  EXPECT_EQ(listed.status, 1);
  EXPECT_NE(listed.error.find("cannot write the answer"), std::string::npos) << listed.error;
}

TEST_F(EbbSimulate, AMethodThatATerminalWouldObeyIsOnePlainLine) {
  expect_refused({"simulate", "--method", "\033[2J\nx"}, "'\uFFFD[2J x'");
}

TEST_F(EbbSimulate, RunsWithoutAHomeAndSaysThatNothingIsRecorded) {
  const support::Subprocess::Environment homeless{{"HOME", ""}, {"XDG_STATE_HOME", ""}};
  for (const char* how : {"--no-folder", "--dry-run"}) {
    Words words = joined({EBB_PROGRAM}, simulate(tiny({"--rounds", "1", how})));
    const Finished done = support::run(words, homeless);
    EXPECT_EQ(done.status, 0) << done.error;
    const std::size_t said = done.error.find("ebb: nothing is recorded: no place");
    EXPECT_NE(said, std::string::npos) << done.error;
    EXPECT_EQ(done.error.find("nothing is recorded", said + 30), std::string::npos) << "once";
  }
}

TEST_F(EbbSimulate, PrintsPlanAndTablesForPeopleAndLeavesFilesAndARun) {
  const Finished shown = ebb(simulate(tiny()));
  EXPECT_EQ(shown.status, 0) << shown.error;
  for (const char* part : {"memory for", "accuracy", "macro F1", "Gini", "TFLOPs", "peak rss"})
    EXPECT_NE(shown.output.find(part), std::string::npos) << part << "\n" << shown.output;
  EXPECT_EQ(shown.output.find('\033'), std::string::npos) << "no colours into a pipe";
  EXPECT_NE(shown.error.find("heuristic.random: round 4 of 4"), std::string::npos) << shown.error;
  ASSERT_TRUE(files::exists(file("ebb-runs")));
  const std::string run = files::directory_iterator(file("ebb-runs"))->path();
  EXPECT_TRUE(run.ends_with("-heuristic.random")) << run;
  for (const char* name : {"config.json", "rounds.jsonl", "result.json"})
    EXPECT_TRUE(files::exists(run + "/" + name)) << name;

  const Finished runs = ebb({"runs"});
  EXPECT_NE(runs.output.find("heuristic.random"), std::string::npos) << runs.output;
  const Finished report = ebb({"report", "last", "--json"});
  const auto json = base::parse_json(report.output);
  ASSERT_TRUE(json) << report.output << report.error;
  const base::Json& process = json->find("processes")->as_array()->at(0);
  EXPECT_EQ(process.find("rounds")->as_int(), 4);
  EXPECT_EQ(ebb({"doctor", "last"}).status, 0);
}

TEST_F(EbbSimulate, WritesMarkersWhereTheyAreAskedForToTheLogAndIntoTheRecord) {
  const auto markers_in = [](const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t at = text.find("[RSS] "); at != std::string::npos;
         at = text.find("[RSS] ", at + 1))
      found.push_back(text.substr(at, text.find(": ", at) - at));
    return found;
  };
  const auto with = [&](const std::string& variable, const Words& more) {
    return support::run(joined({"env", variable}, command(simulate(tiny(more)))));
  };
  Words wanted;
  for (const char* round : {"0", "1", "2", "3"})
    for (const char* tag : {"aggregate", "end"})
      wanted.push_back("[RSS] SV s=simulator r=" + std::string(round) + " " + tag);
  const Finished done = with("EBB_MEMORY_PROFILE=1", {});
  ASSERT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(markers_in(done.error), wanted);
  EXPECT_EQ(markers_in(ebb({"report", "last", "--json"}).output), wanted);
  EXPECT_NE(ebb({"report", "last"}).output.find("\nmarkers\n"), std::string::npos);

  EXPECT_EQ(markers_in(with("EBB_MEMORY_PROFILE=1", {"--workflow", "cyclic"}).error).size(), 4U)
      << "nobody aggregates";
  EXPECT_EQ(markers_in(with("NVFLARE_CLIENT_MEMORY_PROFILE=1", {}).error).size(), 0U)
      << "of clients alone";
  EXPECT_EQ(with("EBB_MEMORY_PROFILE=1", {"--quiet"}).error, "");
  EXPECT_EQ(markers_in(ebb({"report", "last", "--json"}).output), wanted);
  const Finished refused = with("EBB_MEMORY_PROFILE=perhaps", {});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.error.find("EBB_MEMORY_PROFILE"), std::string::npos) << refused.error;
}

TEST_F(EbbSimulate, QuietSaysNothing) {
  const Finished shown = ebb(simulate(tiny({"--quiet", "--json", "--no-folder", "--no-record"})));
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.error, "");
  EXPECT_FALSE(files::exists(file("ebb-runs")));
}

TEST_F(EbbSimulate, PrintsOneJsonObject) {
  const base::Json json = json_of(simulate(tiny({"--no-folder"})));
  for (const char* key :
       {"rounds", "setup_seconds", "peak_rss_bytes", "model_sha256", "config", "time_to_accuracy"})
    EXPECT_NE(json.find(key), nullptr) << key;
  const base::Json::Array& rounds = *json.find("rounds")->as_array();
  ASSERT_EQ(rounds.size(), 4U);
  for (const char* key : {"round", "accuracy", "loss", "cohort", "rss_bytes", "wall_seconds"})
    EXPECT_NE(rounds.front().find(key), nullptr) << key;
  EXPECT_EQ(rounds.front().find("cohort")->as_array()->size(), 3U);
  EXPECT_EQ(json.find("config")->find("clients")->as_int(), 8);
}

TEST_F(EbbSimulate, ThePartsOfARoundAddUpToTheTimeSinceTheRoundBefore) {
  const base::Json json = json_of(simulate(tiny({"--gc-rounds", "1"})));
  for (const base::Json& round : *json.find("rounds")->as_array()) {
    double sum = 0;
    for (const char* part :
         {"training", "sums", "evaluation", "selection", "cleanup", "writing", "other"}) {
      const double seconds = *round.find(std::string(part) + "_seconds")->as_double();
      EXPECT_GE(seconds, 0) << part;
      sum += seconds;
    }
    const double wall = *round.find("wall_seconds")->as_double();
    EXPECT_NEAR(sum, wall, 1e-6 * wall);
  }
  const base::Json& second = json.find("rounds")->as_array()->at(1);
  for (const char* part : {"training", "sums", "evaluation", "cleanup", "writing"})
    EXPECT_GT(*second.find(std::string(part) + "_seconds")->as_double(), 0) << part;
}

TEST_F(EbbSimulate, TheCommandLineWinsOverTheConfiguration) {
  std::ofstream(file("config.json"))
      << R"({"dataset": "synthetic", "synthetic_train": 300, "synthetic_test": 100, "clients": 8,
             "per_round": 3, "rounds": 4, "batch": 16, "seeds": [1, 2]})";
  const base::Json json =
      json_of({"simulate", "--config", file("config.json"), "--rounds", "2", "--no-folder"});
  EXPECT_EQ(json.find("rounds")->as_array()->size(), 2U);
  EXPECT_EQ(json.find("config")->find("seed")->as_int(), 1);
  ASSERT_EQ(json.find("repeats")->as_array()->size(), 1U);
  EXPECT_EQ(json.find("repeats")->as_array()->at(0).find("config")->find("seed")->as_int(), 2);
  EXPECT_EQ(json.find("bands")->as_array()->size(), 2U);
}

TEST_F(EbbSimulate, NvflaresSettingsAreTakenFromTheConfigurationAndChangeNoResult) {
  const auto json_with = [&](const std::string& keys, const Words& more) {
    std::ofstream(file("nvflare.json")) << keys;
    return simulate(tiny(joined({"--config", file("nvflare.json"), "--no-folder"}, more)));
  };
  const std::string plain = model_of(simulate(tiny({"--no-folder"})));
  EXPECT_EQ(model_of(json_with(R"({"server_memory_gc_rounds": 2, "client_memory_gc_rounds": 1})",
                               {"--cuda-empty-cache", "true"})),
            plain);
  EXPECT_EQ(ebb(json_with(R"({"memory_gc_rounds": 1, "round_timeout": 3600})",
                          {"--workflow", "swarm", "--client-memory-gc-rounds", "2"}))
                .status,
            0);
  expect_refused(json_with(R"({"memory_gc_rounds": 1})", {}),
                 "memory_gc_rounds with workflow server, expected swarm");
  expect_refused(json_with(R"({"server_memory_gc_round": 1})", {}), "server_memory_gc_round");
  expect_refused(simulate(tiny({"--cuda-empty-cache", "maybe"})), "true or false");
}

TEST_F(EbbSimulate, ThreadsDoNotChangeTheModel) {
  const std::string one = model_of(simulate(tiny({"--no-folder", "--threads", "1"})));
  EXPECT_EQ(one.size(), 64U);
  EXPECT_EQ(model_of(simulate(tiny({"--no-folder", "--parallel-clients", "2"}))), one);
  EXPECT_NE(model_of(simulate(tiny({"--no-folder", "--seed", "7"}))), one);
}

/// A small network with dropout, as somebody describes it.
constexpr const char* kOwnModel = R"({"layers": [
  {"type": "conv2d", "out_channels": 4, "kernel_size": 5, "stride": 2}, {"type": "relu"},
  {"type": "dropout", "p": 0.2}, {"type": "linear", "out_features": "classes"}]})";

TEST_F(EbbSimulate, GoesOnWithAModelOfOnesOwnWhereItsFileIsGoneAndNotWhereItHasChanged) {
  ASSERT_TRUE(base::write_file_atomically(file("my.json"), kOwnModel));
  const Words words = simulate(tiny({"--model", "my.json"}));
  const std::string longer = model_of(joined(words, {"--no-folder", "--rounds", "6"}));
  EXPECT_EQ(ebb(joined(words, {"--folder", file("run")})).status, 0);
  std::string other = kOwnModel;
  other.replace(other.find("0.2"), 3, "0.3");
  ASSERT_TRUE(base::write_file_atomically(file("my.json"), other));
  const Words resumed = {"simulate", "--resume", file("run"), "--rounds", "6"};
  expect_refused(resumed, "my.json: has changed since the simulation was begun");
  files::remove(file("my.json"));
  EXPECT_EQ(model_of(resumed), longer);
}

TEST_F(EbbSimulate, SaysAtOnceWhatIsWrongWithAModelOfOnesOwn) {
  ASSERT_TRUE(base::write_file_atomically(file("my.json"), R"({"layers": [{"type": "relo"}]})"));
  expect_refused(simulate(tiny({"--model", "my.json"})),
                 R"(my.json: layers[0].type: "relo", did you mean "relu"?)");
  expect_refused({"compare", "--methods", "heuristic.random", "--model", "other.json"},
                 "other.json: no such file");
  // What follows from the pictures is known when they are there.
  ASSERT_TRUE(base::write_file_atomically(
      file("my.json"), R"({"layers": [{"type": "linear", "out_features": 7}]})"));
  expect_refused(simulate(tiny({"--model", "my.json"})),
                 "my.json: layers: the last one gives 7 values, expected 10 classes");
}

/// A folder as LEAF writes it: three users, whose samples are grey pictures.
void write_leaf(const std::string& folder) {
  for (const char* split : {"train", "test"}) {
    files::create_directories(folder + "/" + split);
    std::ofstream file(folder + "/" + split + "/all_data_0_niid_0_keep_0_train_9.json");
    file << R"({"users": ["f0", "f1", "f2"], "num_samples": [4, 5, 6], "user_data": {)";
    for (int user = 0; user < 3; ++user) {
      std::string pictures;
      std::string labels;
      for (int sample = 0; sample < 4 + user; ++sample) {
        pictures += sample == 0 ? "[" : ", [";
        for (int pixel = 0; pixel < 28 * 28; ++pixel)
          pictures += (pixel == 0 ? "" : ", ") + std::to_string((pixel * (sample + 1)) % 97 / 97.0);
        pictures += "]";
        labels += (sample == 0 ? "" : ", ") + std::to_string((user + sample) % 3);
      }
      file << (user == 0 ? "" : ", ") << "\"f" << user << R"(": {"x": [)" << pictures
           << R"(], "y": [)" << labels << "]}";
    }
    file << "}}";
  }
}

TEST_F(EbbSimulate, UsersOfLeafAreItsClients) {
  write_leaf(file("femnist"));
  const Words leaf = {
      "--dataset", "leaf",      "--data",      file("femnist"),        "--partition",
      "users",     "--clients", "3",           "--per-round",          "2",
      "--rounds",  "2",         "--no-record", "--eval-clients-every", "1",
      "--backend", "native"};
  const base::Json json = json_of(simulate(joined(leaf, {"--quiet", "--folder", file("run")})));
  ASSERT_NE(json.find("rounds"), nullptr);
  EXPECT_EQ(json.find("rounds")->as_array()->size(), 2U);
  const base::Json more = json_of({"simulate", "--resume", file("run"), "--rounds", "3", "--data",
                                   file("femnist"), "--quiet", "--no-record"});
  EXPECT_EQ(*more.find("model_sha256")->as_string(),
            model_of(simulate(joined(leaf, {"--quiet", "--no-folder", "--rounds", "3"}))));
  expect_refused(simulate(joined(leaf, {"--clients", "4"})), "4 clients, expected 1 to 3");
  expect_refused(simulate({"--dataset", "leaf", "--data", file("femnist")}),
                 "partition iid with dataset leaf, expected users");
  std::ofstream(file("femnist") + "/test/damaged.json") << "{\"users\": [";
  expect_refused(simulate(leaf), "damaged.json: byte 11: expected the name of a user");
}

#ifdef EBB_MPIRUN
Words on_ranks(int count, const Words& words) {
  return joined({EBB_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", std::to_string(count)},
                words);
}

TEST_F(EbbSimulate, RanksDoNotChangeTheModelAndOnlyTheFirstSpeaks) {
  const Words words = simulate(tiny({"--json", "--no-record"}));
  const std::string alone = model_of(simulate(tiny({"--no-folder"})));
  for (const int ranks : {2, 4}) {
    const Finished finished = support::run(on_ranks(ranks, command(words)));
    EXPECT_EQ(finished.status, 0) << finished.error;
    const auto json = base::parse_json(finished.output);
    ASSERT_TRUE(json) << finished.output;
    EXPECT_EQ(*json->find("model_sha256")->as_string(), alone) << ranks;
  }
}

TEST_F(EbbSimulate, RanksEvaluateClientsToTheSameFigures) {
  const Words words = simulate(tiny({"--eval-clients-every", "3", "--no-folder", "--quiet"}));
  const auto scores_of = [](const base::Json& json) {
    std::string text;
    for (const base::Json& round : *json.find("rounds")->as_array())
      text += round.find("client_scores")->text() + "\n";
    return text;
  };
  const std::string alone = scores_of(json_of(words));
  EXPECT_TRUE(alone.starts_with("null\nnull\n{")) << alone;
  const Finished finished = support::run(on_ranks(3, command(joined(words, {"--json"}))));
  ASSERT_EQ(finished.status, 0) << finished.error;
  EXPECT_EQ(scores_of(*base::parse_json(finished.output)), alone);
}

TEST_F(EbbSimulate, RanksKnowTheSameOfVeryManyClientsAfterAResume) {
  const Words words =
      simulate(tiny({"--partition", "mix", "--samples-per-client", "20", "--clients", "11000",
                     "--method", "heuristic.topk_loss", "--dropout", "0.3", "--no-record"}));
  const std::string alone = model_of(joined(words, {"--no-folder"}));
  const Words here = joined(words, {"--json", "--folder", file("run"), "--rounds", "2"});
  ASSERT_EQ(support::run(on_ranks(3, command(here))).status, 0);
  const Finished more = support::run(on_ranks(
      2, command({"simulate", "--resume", file("run"), "--rounds", "4", "--no-record", "--json"})));
  ASSERT_EQ(more.status, 0) << more.error;
  EXPECT_EQ(*base::parse_json(more.output)->find("model_sha256")->as_string(), alone);
}

TEST_F(EbbSimulate, RanksHaveTheSameControlVariates) {
  const Words words = simulate(tiny({"--rule", "scaffold", "--per-round", "5", "--no-record"}));
  const std::string alone = model_of(joined(words, {"--no-folder"}));
  const Words here = joined(words, {"--json", "--folder", file("run"), "--rounds", "2"});
  ASSERT_EQ(support::run(on_ranks(3, command(here))).status, 0);
  const Finished more = support::run(on_ranks(
      2, command({"simulate", "--resume", file("run"), "--rounds", "4", "--no-record", "--json"})));
  ASSERT_EQ(more.status, 0) << more.error;
  EXPECT_EQ(*base::parse_json(more.output)->find("model_sha256")->as_string(), alone);
}

TEST_F(EbbSimulate, RanksDropTheSameValuesAndTakeTheSameSteps) {
  ASSERT_TRUE(base::write_file_atomically(file("my.json"), kOwnModel));
  const Words words =
      simulate(tiny({"--model", "my.json", "--local-steps", "5", "--weighting", "none",
                     "--lr-schedule", "cosine", "--lr-warmup", "1", "--no-record", "--no-folder"}));
  const std::string alone = model_of(words);
  const Finished finished = support::run(on_ranks(2, command(joined(words, {"--json"}))));
  EXPECT_EQ(finished.status, 0) << finished.error;
  const auto json = base::parse_json(finished.output);
  ASSERT_TRUE(json) << finished.output;
  EXPECT_EQ(*json->find("model_sha256")->as_string(), alone);
}

TEST_F(EbbSimulate, RanksAgreeOnANormThatFollowsUpdates) {
  const Words words =
      simulate(tiny({"--dp-clip", "0.05", "--dp-noise", "0.5", "--dp-target-quantile", "0.5",
                     "--dp-clip-lr", "1", "--no-record", "--no-folder"}));
  const std::string alone = model_of(words);
  const Finished finished = support::run(on_ranks(2, command(joined(words, {"--json"}))));
  EXPECT_EQ(finished.status, 0) << finished.error;
  const auto json = base::parse_json(finished.output);
  ASSERT_TRUE(json) << finished.output;
  EXPECT_EQ(*json->find("model_sha256")->as_string(), alone);
  EXPECT_NE(json->find("privacy")->find("clip")->as_double(), 0.05);
  EXPECT_GT(json->find("privacy")->find("epsilon")->as_double(), 0);
}

TEST_F(EbbSimulate, WhatIsWrongOnAllRanksIsSaidOnce) {
  const Words words = simulate(tiny({"--clients", "1000"}));
  const Finished finished = support::run(on_ranks(2, command(words)));
  EXPECT_NE(finished.status, 0);
  EXPECT_EQ(finished.output, "");
  const std::string line = "300 samples for 1000 clients";
  const std::size_t first = finished.error.find(line);
  EXPECT_NE(first, std::string::npos) << finished.error;
  EXPECT_EQ(finished.error.find(line, first + 1), std::string::npos) << finished.error;
  EXPECT_FALSE(files::exists(file("ebb-runs"))) << "nothing half-written";
}
#endif

/// Very many clients who share a few samples.
Words crowd(const Words& more = {}) {
  return simulate(joined({"--dataset",
                          "synthetic",
                          "--synthetic-train",
                          "300",
                          "--synthetic-test",
                          "100",
                          "--partition",
                          "mix",
                          "--samples-per-client",
                          "20",
                          "--sizes",
                          "lognormal",
                          "--clients",
                          "100000",
                          "--per-round",
                          "5",
                          "--rounds",
                          "4",
                          "--batch",
                          "16",
                          "--backend",
                          "native"},
                         more));
}

TEST_F(EbbSimulate, AHundredThousandClientsShareSamples) {
  const base::Json result = json_of(crowd({"--folder", file("crowd")}));
  EXPECT_EQ(result.find("rounds")->as_array()->size(), 4U);
  EXPECT_TRUE(result.find("candidates")->is_null());
  EXPECT_EQ(*result.find("model_sha256")->as_string(),
            model_of(crowd({"--no-folder", "--threads", "1"})));
  // What is written has the clients that took part in it, not all of them.
  EXPECT_EQ(files::file_size(file("crowd/clients")) % 44, 0U);
  EXPECT_LE(files::file_size(file("crowd/clients")), 44U * 5 * 4);
  const auto weights = files::file_size(file("crowd/checkpoint"));
  const base::Json few = json_of(crowd({"--clients", "8", "--folder", file("few")}));
  EXPECT_LT(weights, files::file_size(file("few/checkpoint")) + 4096);
}

TEST_F(EbbSimulate, AHundredThousandClientsGoOnAfterAKillWithTheSameModel) {
  const Words words = crowd({"--rounds", "40", "--dropout", "0.3"});
  const std::string whole = model_of(joined(words, {"--no-folder"}));
  const Words seldom = joined(words, {"--checkpoint-every", "3"});
  EXPECT_EQ(interrupted(seldom, file("killed"), SIGKILL), -SIGKILL);
  EXPECT_EQ(model_of({"simulate", "--resume", file("killed")}), whole);
  const std::string clients = file("killed/clients");
  std::string bytes = *base::read_file(clients);
  bytes[50] = static_cast<char>(bytes[50] ^ 1);
  ASSERT_TRUE(base::write_file_atomically(clients, bytes));
  const Finished damaged = ebb({"simulate", "--resume", file("killed"), "--rounds", "41"});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_NE(damaged.error.find("/clients: not as it was written"), std::string::npos)
      << damaged.error;
}

TEST_F(EbbSimulate, AMethodThatAsksEveryoneAsksCandidatesAndSaysSo) {
  const Words words = crowd({"--clients", "20000", "--candidates", "30", "--method", "ml.fedcor",
                             "--no-folder", "--rounds", "3"});
  const base::Json result = json_of(words);
  EXPECT_EQ(result.find("candidates")->text(), R"({"count":30,"of":20000,"drawn":"once"})");
  for (const base::Json& round : *result.find("rounds")->as_array())
    EXPECT_EQ(round.find("probed_clients")->as_unsigned(), 30U);
  const Finished shown = ebb(words);
  EXPECT_NE(shown.output.find("candidates ml.fedcor: 30 of 20000 clients, drawn once; asked 90 "
                              "times for a loss\n"),
            std::string::npos)
      << shown.output;
}

TEST_F(EbbSimulate, SharedSamplesThatCannotBeAreRefused) {
  expect_refused(crowd({"--samples-per-client", "301"}),
                 "samples_per_client 301, expected at most the 300 samples of the data set");
  expect_refused(crowd({"--samples-per-client", "0"}), "samples_per_client 0, expected at least 1");
  expect_refused(crowd({"--candidates", "4"}),
                 "candidates 4, expected at least the 5 clients of a round, or 0");
}

TEST_F(EbbSimulate, GoesOnAfterAKillWithTheSameModel) {
  const Words words = simulate(tiny({"--rounds", "40"}));
  const std::string whole = model_of(joined(words, {"--no-folder"}));
  EXPECT_EQ(interrupted(words, file("killed"), SIGKILL), -SIGKILL);
  const base::Json resumed = json_of({"simulate", "--resume", file("killed")});
  EXPECT_EQ(*resumed.find("model_sha256")->as_string(), whole);
  EXPECT_EQ(resumed.find("rounds")->as_array()->size(), 40U) << "with those before the kill";
  EXPECT_FALSE(resumed.find("resumed_at")->is_null());
}

TEST_F(EbbSimulate, GoesOnAfterAKillWithTheSameControlVariates) {
  const Words words = simulate(tiny({"--rule", "scaffold", "--per-round", "5", "--rounds", "30"}));
  const std::string whole = model_of(joined(words, {"--no-folder"}));
  // What clients have learned in rounds that no checkpoint has is forgotten.
  const Words seldom = joined(words, {"--checkpoint-every", "3"});
  EXPECT_EQ(interrupted(seldom, file("killed"), SIGKILL), -SIGKILL);
  EXPECT_EQ(model_of({"simulate", "--resume", file("killed")}), whole);
  const std::string rows = file("killed/control-variates");
  std::ofstream(rows, std::ios::in | std::ios::out) << std::string(files::file_size(rows), 'x');
  const Finished damaged = ebb({"simulate", "--resume", file("killed"), "--rounds", "31"});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_NE(damaged.error.find("/control-variates: client 0: not as it was written"),
            std::string::npos)
      << damaged.error;
}

TEST_F(EbbSimulate, AnInterruptStopsAfterTheRoundAndSaysHowToGoOn) {
  const Words words = simulate(tiny({"--rounds", "40"}));
  std::string said;
  EXPECT_EQ(interrupted(words, file("stopped"), SIGINT, &said), 1);
  EXPECT_NE(said.find("ebb simulate --resume " + file("stopped")), std::string::npos) << said;
  EXPECT_EQ(model_of({"simulate", "--resume", file("stopped")}),
            model_of(joined(words, {"--no-folder"})));
}

TEST_F(EbbSimulate, AFullStdoutIsOneLineAndStatusOne) {
  const Words full = {"sh", "-c", "exec \"$@\" > /dev/full", "sh"};
  const Words quiet = tiny({"--no-folder", "--no-record", "--quiet"});
  const Words compare = joined({"compare", "--methods", "heuristic.random"}, quiet);
  for (const Words& words : {simulate(quiet), simulate(joined(quiet, {"--json"})),
                             simulate(joined(quiet, {"--dry-run"})), compare}) {
    const Finished done = support::run(joined(full, command(words)));
    EXPECT_EQ(done.status, 1) << done.error;
    EXPECT_EQ(done.error, "ebb: cannot write the answer to stdout: No space left on device\n");
  }
}

TEST_F(EbbSimulate, ASecondSignalEndsItAtOnceWhicheverItIs) {
  // One round takes minutes: nothing but the signal ends it in time.
  Words shell = {"sh", "-c", "exec \"$@\" 2>&1", "sh"};
  support::Subprocess child(joined(
      shell, command(simulate(tiny({"--synthetic-train", "20000", "--epochs", "10000", "--clients",
                                    "2", "--per-round", "2", "--no-folder", "--no-record"})))));
  EXPECT_NE(child.read_line(), "") << "the plan";
  kill(child.pid(), SIGTERM);
  std::string line;
  do {
    line = child.read_line();
  } while (line.find("once more stops at once") == std::string::npos && !ended(child));
  kill(child.pid(), SIGINT);
  EXPECT_EQ(child.wait(), -SIGINT);
}

TEST_F(EbbSimulate, ASignalToItsWholeGroupIsOneAlsoUnderEbbRun) {
  // `ebb run` passes on what its command, being in the same group, has got already.
  // Rounds that take a while: nine tenths of them are not over before it is told to end.
  const Words words = simulate(
      tiny({"--rounds", "40", "--epochs", "5", "--no-record", "--folder", file("stopped")}));
  Words shell = {"setsid",    "sh",  "-c",   "exec \"$@\" 2>&1", "sh",
                 EBB_PROGRAM, "run", "--db", file("group.db"),   "--quiet",
                 "--"};
  support::Subprocess child(joined(shell, command(words)));
  std::string line;
  do {
    line = child.read_line();
  } while (!line.empty() ? line.find(": round ") == std::string::npos : !ended(child));
  // One after the other: of two that are there at once the kernel makes one.
  const std::string pid = std::to_string(child.pid());
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  pid_t command_of_run = 0;
  ASSERT_TRUE(children >> command_of_run);
  kill(command_of_run, SIGTERM);
  do {
    line = child.read_line();
  } while (line.find("once more stops at once") == std::string::npos && !ended(child));
  kill(child.pid(), SIGTERM);
  const std::string said = child.read_rest_of_output();
  EXPECT_EQ(child.wait(), 1) << said;
  EXPECT_NE(said.find("ebb simulate --resume " + file("stopped")), std::string::npos) << said;
}

TEST_F(EbbSimulate, TheSameSignalAMomentLaterEndsItAtOnce) {
  const Words words =
      command(simulate(tiny({"--synthetic-train", "20000", "--epochs", "10000", "--clients", "2",
                             "--per-round", "2", "--no-folder", "--no-record"})));
  int status = 1;
  // One that has not begun its round ends at the first signal, with status 1: then later.
  for (int wait = 0; status == 1 && wait < 120; wait = 2 * wait + 1) {
    support::Subprocess child(words);
    EXPECT_NE(child.read_line(), "") << "the plan";
    std::this_thread::sleep_for(std::chrono::seconds(wait));
    // One of them comes later than a moment after the first.
    while (!ended(child)) {
      kill(child.pid(), SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    status = child.wait();
  }
  EXPECT_EQ(status, -SIGTERM);
}

/// A command under a limit (-v or -d, in KiB) that it may not lift, whoever runs it.
Words limited(const std::string& limit, const Words& words) {
  Words all = {"sh", "-c", "ulimit " + limit + " && exec \"$@\"", "sh"};
  if (geteuid() == 0) all = joined({"setpriv", "--bounding-set=-sys_resource"}, all);
  return joined(all, words);
}

void expect_refusal(const Finished& refused, const std::string& part) {
  EXPECT_EQ(refused.status, 2) << refused.error;
  EXPECT_EQ(refused.output, "");
  EXPECT_NE(refused.error.find(part), std::string::npos) << refused.error;
  EXPECT_TRUE(refused.error.starts_with("ebb: ")) << refused.error;
  EXPECT_EQ(refused.error.find('\n'), refused.error.size() - 1) << refused.error;
}

TEST_F(EbbSimulate, UnderALimitOfTheAddressSpaceItSaysWhatItNeeds) {
  const Words words = simulate(tiny({"--no-folder", "--no-record", "--quiet"}));
  // A soft limit is lifted for the trial, which then tells what it needs.
  const Words soft = {"sh", "-c", "ulimit -S -v 600000 && exec \"$@\"", "sh"};
  const Finished told = support::run(joined(soft, command(words)));
  expect_refusal(
      told, "the address space is limited to 585.9 MiB (ulimit -v), but this simulation needs ");
  EXPECT_EQ(support::run(limited("-v 16000000", command(words))).status, 0);
  const Words many = simulate(tiny({"--clients", "1000"}));
  const Finished wrong = support::run(limited("-v 16000000", command(many)));
  EXPECT_NE(wrong.error.find("300 samples for 1000 clients"), std::string::npos)
      << "what else is wrong is said as ever; " << wrong.error;
}

TEST_F(EbbSimulate, UnderALimitThatIsNotLiftedNothingStartsThatWouldNotEnd) {
  // Libraries that cannot map what they need ask for it again and again.
  const Words tail = tiny({"--no-folder", "--no-record", "--quiet"});
  const std::string refused = "needs more than that: a trial of one step ";
  const Words compare = joined({"compare", "--methods", "heuristic.random"}, tail);
  expect_refusal(support::run(limited("-v 600000", command(simulate(tail)))),
                 refused + "did not end");
  expect_refusal(support::run(limited("-v 100000", command(compare))), refused + "failed");
  Words direct = command(simulate(tail));
  std::replace(direct.begin(), direct.end(), std::string(EBB_PROGRAM),
               std::string(EBB_PROGRAM "-simulate"));
  // Below a limit that depends on the processor libtorch itself does not come up, long before
  // main().
  Finished told;
  for (int kib = 560000; kib < 1200000 && told.error.find(refused) == std::string::npos;
       kib += 40000)
    told = support::run(limited("-v " + std::to_string(kib), direct));
  expect_refusal(told, refused);
}

TEST_F(EbbSimulate, ALimitOfWritableMemoryIsLookedAtToo) {
  const Words words = command(simulate(tiny({"--no-folder", "--no-record", "--quiet"})));
  const std::string limit = "writable memory is limited to 195.3 MiB (ulimit -d), ";
  expect_refusal(support::run(limited("-d 200000", words)),
                 limit + "and this simulation needs more");
  expect_refusal(support::run(limited("-S -d 200000", words)),
                 limit + "but this simulation needs ");
  EXPECT_EQ(support::run(limited("-d 8000000", words)).status, 0);
}

TEST_F(EbbSimulate, AFolderThatHoldsASimulationIsNotOverwritten) {
  const Words words = simulate(tiny({"--rounds", "1", "--folder", file("run")}));
  EXPECT_EQ(ebb(words).status, 0);
  expect_refused(words, "--resume goes on with it");
}

TEST_F(EbbSimulate, ADamagedCheckpointIsRefusedInOneLine) {
  EXPECT_EQ(ebb(simulate(tiny({"--folder", file("run")}))).status, 0);
  std::size_t damaged = 0;
  for (const auto& entry : files::directory_iterator(file("run"))) {
    if (entry.path().filename().string().find("checkpoint") == std::string::npos) continue;
    files::resize_file(entry.path(), files::file_size(entry.path()) / 2);
    ++damaged;
  }
  EXPECT_EQ(damaged, 1U);
  expect_refused({"simulate", "--resume", file("run")}, "checkpoint");
}

TEST_F(EbbSimulate, RoundsThatDoNotBelongToTheCheckpointAreRefused) {
  const Words longer = {"simulate", "--resume", file("run"), "--rounds", "5", "--no-record"};
  ASSERT_EQ(ebb(simulate(tiny({"--folder", file("run"), "--no-record"}))).status, 0);
  const std::string rounds = file("run/rounds.jsonl");
  const std::string written = base::read_file(rounds).value_or("");
  std::string edited = written;
  const std::size_t second = edited.find('\n') + 1;
  edited.replace(edited.find("\"train_loss\":", second), 13, "\"train_loss\":9");
  std::ofstream(rounds) << edited;
  expect_refused(longer, "rounds.jsonl: line 2: not as it was written");
  expect_refused({"runs", "import", file("run")}, "rounds.jsonl: line 2: not as it was written");
  std::ofstream(rounds) << written;
  EXPECT_EQ(ebb(longer).status, 0) << "as it was";
}

TEST_F(EbbSimulate, AFolderOfAnEarlierEbbResumesWithALineThatItIsUnchecked) {
  files::copy(EBB_EARLIER_FOLDER, file("earlier"));
  const Finished done =
      ebb({"simulate", "--resume", file("earlier"), "--rounds", "7", "--no-record"});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_NE(done.error.find("its rounds.jsonl is not checked"), std::string::npos) << done.error;
}

TEST_F(EbbSimulate, AFifoInPlaceOfACheckpointIsRefused) {
  ASSERT_EQ(ebb(simulate(tiny({"--folder", file("run"), "--no-record"}))).status, 0);
  ASSERT_EQ(unlink(file("run/checkpoint").c_str()), 0);
  ASSERT_EQ(mkfifo(file("run/checkpoint").c_str(), 0600), 0);
  expect_refused({"simulate", "--resume", file("run"), "--no-record"}, "checkpoint: is no file");
}

TEST_F(EbbSimulate, ComparesMethodsOnTheSameSeeds) {
  const base::Json json =
      json_of(joined({"compare", "--methods", "heuristic.random,heuristic.round_robin", "--repeats",
                      "2", "--html", file("page.html")},
                     tiny()));
  const base::Json::Array& methods = *json.find("methods")->as_array();
  ASSERT_EQ(methods.size(), 2U);
  for (const base::Json& method : methods) {
    EXPECT_EQ(method.find("config")->find("seed")->as_int(), 42);
    EXPECT_EQ(method.find("repeats")->as_array()->at(0).find("config")->find("seed")->as_int(), 43);
    EXPECT_EQ(method.find("bands")->as_array()->size(), 4U);
  }
  const base::Json::Array& ranking = *json.find("ranking")->as_array();
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_GE(ranking[0].find("accuracy")->find("mean")->as_double(),
            ranking[1].find("accuracy")->find("mean")->as_double());
  EXPECT_TRUE(ranking[0].find("against_best")->is_null());
  EXPECT_TRUE(ranking[1].find("against_best")->find("p")->as_double());
  EXPECT_EQ(json.find("cleanups")->as_array()->size(), 4U);
  const auto page = base::read_file(file("page.html"));
  ASSERT_TRUE(page);
  for (const char* part : {"Accuracy", "Participation", "band_low", "heuristic.round_robin"})
    EXPECT_NE(page->find(part), std::string::npos) << part;
}

TEST_F(EbbSimulate, AComparisonKeepsTheBackEndThatItChose) {
  const base::Json whole = json_of(
      {"compare", "--methods", "heuristic.random,heuristic.round_robin", "--seeds", "1,2",
       "--rounds", "1", "--dataset", "synthetic", "--synthetic-train", "300", "--synthetic-test",
       "100", "--clients", "8", "--per-round", "3", "--folder", file("kept")});
  const auto kept = base::parse_json(*base::read_file(file("kept") + "/comparison.json"));
  ASSERT_TRUE(kept);
  const std::string backend = *kept->find("backend")->as_string();
  EXPECT_NE(backend, "auto");
  EXPECT_EQ(whole.find("methods")->as_array()->size(), 2U);
  for (const base::Json& method : *whole.find("methods")->as_array())
    EXPECT_EQ(*method.find("config")->find("backend")->as_string(), backend);
}

TEST_F(EbbSimulate, AComparisonGoesOnAfterAKill) {
  const Words words =
      joined({"compare", "--methods", "heuristic.random,heuristic.round_robin", "--rounds", "30"},
             {"--dataset", "synthetic", "--synthetic-train", "300", "--synthetic-test", "100",
              "--clients", "8", "--per-round", "3", "--batch", "16", "--backend", "native"});
  const base::Json whole = json_of(joined(words, {"--no-folder"}));
  EXPECT_EQ(interrupted(words, file("killed"), SIGKILL), -SIGKILL);
  const base::Json resumed = json_of({"compare", "--resume", file("killed")});
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(*resumed.find("methods")->as_array()->at(i).find("model_sha256")->as_string(),
              *whole.find("methods")->as_array()->at(i).find("model_sha256")->as_string());
}

TEST_F(EbbSimulate, AFolderFromElsewhereIsTakenIntoTheRecordOnce) {
  const std::string elsewhere = file(
      "else\x1b[31m"
      "where");
  json_of(joined({"compare", "--methods", "heuristic.random,heuristic.round_robin", "--no-record",
                  "--folder", elsewhere},
                 tiny()));
  const Words import = {"runs", "import", elsewhere};
  const Finished first = ebb(import);
  EXPECT_EQ(first.status, 0) << first.error;
  EXPECT_NE(first.output.find("as run 2: heuristic.round_robin, 4 of 4 rounds"), std::string::npos)
      << first.output;
  EXPECT_EQ(first.output.find('\x1b'), std::string::npos) << "no name is obeyed by a terminal";
  const base::Json again = json_of(import);
  EXPECT_EQ(again.find("imported")->as_array()->size(), 0U);
  EXPECT_EQ(again.find("known")->as_array()->size(), 2U);
  const base::Json listed = json_of({"runs"});
  const base::Json::Array& runs = *listed.find("runs")->as_array();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(*runs[0].find("name")->as_string(), "heuristic.round_robin");
  EXPECT_EQ(*runs[0].find("outcome")->as_string(), "exit status 0");
  EXPECT_EQ(runs[0].find("rounds")->as_unsigned(), 4U);
}

TEST_F(EbbSimulate, WhatIsNoSimulationIsNotTakenIn) {
  expect_refused({"runs", "import"}, "expected a folder");
  expect_refused({"runs", "import", "nowhere"}, "nowhere: no simulation, expected config.json");
  json_of(joined({"simulate", "--no-record", "--folder", file("right")}, tiny()));
  files::create_directory(file("wrong"));
  folder_.write("wrong/config.json", *base::read_file(file("right/config.json")));
  folder_.write("wrong/rounds.jsonl", "{\"round\":0}\n");
  expect_refused({"runs", "import", "right", "wrong"}, "wrong: round 1: expected the report");
  EXPECT_EQ(json_of({"runs"}).find("runs")->as_array()->size(), 0U) << "all of them or none";
}

}  // namespace
}  // namespace ebb
