// SPDX-License-Identifier: Apache-2.0
// `ebb plan`, run as a user runs it.
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "cli/run_ebb.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

using support::Finished;

Finished plan(std::vector<std::string> words) {
  words.insert(words.begin(), "plan");
  return cli_test::ebb(words);
}

base::Json planned(std::vector<std::string> words) {
  words.insert(words.begin(), "plan");
  words.push_back("--json");
  return cli_test::json_of(words);
}

std::uint64_t number(const base::Json& json, const char* key) {
  const base::Json* found = json.find(key);
  EXPECT_NE(found, nullptr) << key;
  return found == nullptr ? 0 : found->as_unsigned().value_or(0);
}

void expect_refused(std::vector<std::string> words, const std::string& part) {
  cli_test::expect_one_line(plan(std::move(words)), 2, part);
}

TEST(EbbPlan, PrintsPartsPhasesAndThePeakForPeople) {
  const Finished shown = plan({"transformer", "gpt2", "--batch", "4"});
  ASSERT_EQ(shown.status, 0) << shown.error;
  for (const char* word : {"weights", "optimizer", "logits", "forward", "backward", "peak", "± "})
    EXPECT_NE(shown.output.find(word), std::string::npos) << word;
  EXPECT_NE(shown.output.find("█"), std::string::npos) << "bars";
  EXPECT_EQ(shown.output.find('\033'), std::string::npos) << "no colours into a pipe";
}

TEST(EbbPlan, PrintsOneJsonObject) {
  const base::Json json = planned({"transformer", "gpt2", "--batch", "4"});
  EXPECT_EQ(number(json, "weights_bytes"), 4 * 124'439'808U);
  EXPECT_EQ(number(json, "gradients_bytes"), 4 * 124'439'808U);
  EXPECT_EQ(number(json, "optimizer_bytes"), 8 * 124'439'808U);
  EXPECT_GT(number(json, "peak_bytes"), number(json, "activations_bytes"));
  for (const char* key : {"peak_phase", "phases", "error_percent"})
    EXPECT_NE(json.find(key), nullptr) << key;
}

TEST(EbbPlan, PlansAMeasuredStepFromItsSizes) {
  const base::Json json = planned(
      {"transformer", "--arch", "llama",       "--layers", "16",      "--d-model",   "1024",
       "--heads",     "16",     "--kv-heads",  "4",        "--d-ff",  "2816",        "--vocab",
       "32000",       "--seq",  "2048",        "--batch",  "2",       "--precision", "bf16",
       "--optimizer", "adamw",  "--attention", "eager",    "--untied"});
  EXPECT_EQ(number(json, "parameters"), 245'924'864U);
  EXPECT_NEAR(static_cast<double>(number(json, "peak_bytes")), 19'077'521'408.0, 0.01 * 19e9);
}

TEST(EbbPlan, OptionsChangeAPreset) {
  const base::Json tied = planned({"transformer", "llama-3-8b", "--layers", "2", "--tied"});
  const base::Json untied = planned({"transformer", "--preset", "llama-3-8b", "--layers", "2"});
  EXPECT_EQ(number(untied, "parameters") - number(tied, "parameters"), 128'256U * 4096);
}

TEST(EbbPlan, ReadsAConfigFile) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.path() + "/config.json";
  std::ofstream(path) << R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
                             "n_positions": 1024, "vocab_size": 50257})";
  EXPECT_EQ(number(planned({"transformer", "--config", path}), "parameters"), 124'439'808U);
  std::ofstream(path) << "{";
  expect_refused({"transformer", "--config", path}, "config.json: JSON at offset");
  expect_refused({"transformer", "--config", folder.path() + "/none.json"}, "none.json");
}

TEST(EbbPlan, SaysWhatFitsAndWhatWouldMakeItFit) {
  const base::Json json = planned({"transformer", "llama-3.2-1b", "--precision", "fp32", "--batch",
                                   "8", "--seq", "2048", "--cap", "24GiB", "--fit"});
  const base::Json* fit = json.find("fit");
  ASSERT_NE(fit, nullptr);
  EXPECT_EQ(fit->find("fits")->as_bool(), false);
  ASSERT_FALSE(fit->find("changes")->as_array()->empty());
  const Finished shown = plan({"transformer", "gpt2", "--cap", "80GiB", "--fit"});
  EXPECT_NE(shown.output.find("fits into 80.0 GiB"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("largest batch"), std::string::npos);
}

TEST(EbbPlan, PlansModelsOfTheSimulatorAndParallelClients) {
  const base::Json json = planned(
      {"model", "CNN-MNIST", "--batch", "32", "--parallel-clients", "auto", "--where", "host"});
  EXPECT_EQ(number(json, "parameters"), 21'840U);
  const base::Json* clients = json.find("parallel_clients");
  ASSERT_NE(clients, nullptr);
  EXPECT_GT(number(*clients, "count"), 0U);
  const base::Json capped = planned({"model", "ResNet18", "--channels", "3", "--size", "32",
                                     "--cap", "8GiB", "--parallel-clients", "auto", "--fit"});
  EXPECT_GT(number(*capped.find("parallel_clients"), "count"), 1U);
  EXPECT_GT(number(*capped.find("fit"), "largest_batch"), 32U);
}

TEST(EbbPlan, PrintsHowManyClientsFitByModelAndCard) {
  const Finished shown = plan({"clients", "--channels", "3", "--size", "32"});
  ASSERT_EQ(shown.status, 0) << shown.error;
  for (const char* words : {"ResNet18", "T4", "H100", "for CUDA's context"})
    EXPECT_NE(shown.output.find(words), std::string::npos) << words << shown.output;
  const base::Json json =
      planned({"clients", "--model", "CNN-MNIST", "--card", "8GiB", "--card", "t4"});
  EXPECT_EQ(json.find("models")->as_array()->size(), 1U);
  EXPECT_EQ(json.find("cards")->as_array()->size(), 2U);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EbbPlan, WritesAPageWithPhasesAndTheVerdict) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.path() + "/plan.html";
  const Finished shown =
      plan({"transformer", "gpt2", "--batch", "64", "--cap", "24GiB", "--fit", "--html", path});
  EXPECT_EQ(shown.status, 0) << shown.error;
  const std::string page = text_of(path);
  for (const char* word : {"does not fit", "Memory by phase", "\"limit\":", "cheapest change",
                           "What would make it fit", "on the device"})
    EXPECT_NE(page.find(word), std::string::npos) << word;
  EXPECT_EQ(plan({"model", "CNN-MNIST", "--cap", "8GiB", "--html", path}).status, 0);
  EXPECT_NE(text_of(path).find("\"fits\""), std::string::npos);
  EXPECT_EQ(plan({"model", "CNN-MNIST", "--html", folder.path() + "/none/x.html"}).status, 2);
}

TEST(EbbPlan, IsCorrectedByARecordedStep) {
  const std::string recorded = std::string(EBB_TEST_DATA) + "/plan/h200-lightcnn-fp32.pickle.gz";
  const std::vector<std::string> words = {"model",      "LightCNN", "--channels", "3",
                                          "--size",     "32",       "--batch",    "512",
                                          "--measured", recorded};
  const base::Json json = planned(words);
  EXPECT_EQ(number(json, "measured_peak_bytes"), 601'948'160U);
  EXPECT_EQ(number(json, "peak_bytes"), 601'948'160U);
  EXPECT_NE(json.find("correction_percent"), nullptr);
  EXPECT_NE(plan(words).output.find("% off the plan"), std::string::npos);
  expect_refused({"model", "LightCNN", "--measured", "/none"}, "/none");
  expect_refused({"model", "LightCNN", "--measured", EBB_PROGRAM}, "ebb");
  const std::string no_history = std::string(EBB_TEST_DATA) + "/torch-2.11/vectors/ctx.pickle";
  expect_refused({"transformer", "gpt2", "--measured", no_history}, "ctx.pickle");
}

TEST(EbbPlan, WhatNobodyMeasuredSaysUnverified) {
  const Finished shown = plan({"transformer", "gpt2", "--zero", "2", "--gpus", "8"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_NE(shown.output.find("unverified  sharded model state"), std::string::npos);
}

TEST(EbbPlan, PrintsTheBudgetOfAFormulaBesideThePlan) {
  const Finished shown = plan({"budget", "--params", "7e9", "--overhead", "0%"});
  ASSERT_EQ(shown.status, 0) << shown.error;
  for (const char* words : {"7.00 G parameters, adam, mixed: 16 bytes each", "master weights",
                            "112.0 GB, by the formula", "--activation-gb"})
    EXPECT_NE(shown.output.find(words), std::string::npos) << words << shown.output;
  const Finished beside =
      plan({"budget", "--model", "gpt2", "--precision", "amp", "--activation-gb", "2"});
  ASSERT_EQ(beside.status, 0) << beside.error;
  for (const char* words : {"exact plan", "by the plan of its steps: gpt2", "the formula is "})
    EXPECT_NE(beside.output.find(words), std::string::npos) << words << beside.output;
  EXPECT_EQ(beside.output.find("--activation-gb"), std::string::npos) << beside.output;
  const base::Json json = planned({"budget", "--params", "175e9", "--gpus", "8"});
  EXPECT_EQ(number(json, "per_gpu_bytes"), 402'500'000'000U);
}

TEST(EbbPlan, ImpossibleInputGetsOneLine) {
  expect_refused({"transformer"}, "expected a preset");
  expect_refused({"transformer", "gtp2"}, "did you mean gpt2?");
  expect_refused({"transformer", "--arch", "bert"}, "architecture 'bert'");
  expect_refused({"transformer", "gpt2", "--heads", "7"}, "heads 7");
  expect_refused({"transformer", "gpt2", "--heads", "0"}, "heads 0");
  expect_refused({"transformer", "gpt2", "--kv-heads", "5"}, "kv-heads 5");
  expect_refused({"transformer", "gpt2", "--batch", "0"}, "batch 0");
  expect_refused({"transformer", "gpt2", "--batch", "-1"}, "");
  expect_refused({"transformer", "gpt2", "--batch", "many"}, "many");
  expect_refused({"transformer", "gpt2", "--seq", "4096"}, "1024 positions");
  expect_refused({"transformer", "gpt2", "--precision", "fp8"}, "precision 'fp8'");
  expect_refused({"transformer", "gpt2", "--optimizer", "lion"}, "optimizer 'lion'");
  expect_refused({"transformer", "gpt2", "--attention", "ring"}, "attention 'ring'");
  expect_refused({"transformer", "gpt2", "--checkpoint", "half"}, "checkpoint 'half'");
  expect_refused({"transformer", "gpt2", "--dropout", "2"}, "dropout 2");
  expect_refused({"transformer", "gpt2", "--zero", "7", "--gpus", "8"}, "zero 7");
  expect_refused({"transformer", "gpt2", "--zero", "1"}, "--gpus");
  expect_refused({"transformer", "gpt2", "--tp", "5", "--gpus", "5"}, "tensor parallel 5");
  expect_refused({"transformer", "gpt2", "--tied", "--untied"}, "--tied and --untied");
  expect_refused({"transformer", "gpt2", "--fit"}, "--cap");
  expect_refused({"transformer", "gpt2", "--cap", "lots"}, "--cap");
  expect_refused({"transformer", "--arch", "gpt2", "--layers", "2"}, "--d-model is missing");
  expect_refused({"model", "CNN-MINST"}, "did you mean 'CNN-MNIST'?");
  expect_refused({"model", "ResNet18", "--size", "0"}, "picture");
  expect_refused({"model", "CNN-MNIST", "--parallel-clients", "12"}, "expected auto");
  expect_refused({"model", "CNN-MNIST", "--parallel-clients", "auto", "--where", "moon"}, "moon");
  expect_refused({"clients", "--card", "lots"}, "--card 'lots'");
  expect_refused({"clients", "--model", "LightCN"}, "did you mean 'LightCNN'?");
  expect_refused({"clients", "--batch", "0"}, "batch 0");
  expect_refused({"budget"}, "expected --params");
  expect_refused({"budget", "--params", "seven"}, "seven");
  expect_refused({"budget", "--params", "7e9", "--overhead", "much"}, "--overhead 'much'");
  expect_refused({"budget", "--model", "lama-7b"}, "did you mean llama-7b?");
  expect_refused({}, "");
}

TEST(EbbPlan, HelpsWithExamples) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"transformer", "--help"},
                                                {"model", "--help"},
                                                {"budget", "--help"},
                                                {"clients", "--help"}})
    EXPECT_NE(plan(words).output.find("Examples:"), std::string::npos);
}

}  // namespace
}  // namespace ebb
