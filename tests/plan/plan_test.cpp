// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include <gtest/gtest.h>

#include "plan/fit.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

using base::kGiB;

TransformerRequest gpt2() {
  TransformerRequest request;
  request.model = *preset("gpt2");
  request.training.batch = 4;
  return request;
}

void expect_refused(const TransformerRequest& request, const char* part) {
  const auto result = plan(request);
  ASSERT_FALSE(result) << part;
  EXPECT_EQ(result.error().code, base::Code::bad_input);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
}

TEST(Plan, RefusesWhatContradictsItself) {
  TransformerRequest request = gpt2();
  request.training.batch = 0;
  expect_refused(request, "batch 0");
  request = gpt2();
  request.training.sequence = 2048;
  expect_refused(request, "1024 positions");
  request = gpt2();
  request.model.heads = 7;
  request.model.kv_heads = 0;
  request.model.head_size = 0;
  expect_refused(request, "heads 7");
  request = gpt2();
  request.training.attention = Attention::flash;
  request.training.precision = Precision::fp32;
  expect_refused(request, "fp32");
  request = gpt2();
  request.training.dropout = 1;
  expect_refused(request, "dropout");
  request = gpt2();
  request.training.tensor_parallel = 5;
  request.gpus = 5;
  expect_refused(request, "tensor parallel 5");
  request = gpt2();
  request.gpus = 3;
  request.pipeline = 2;
  expect_refused(request, "gpus 3");
  request = gpt2();
  request.zero = 4;
  expect_refused(request, "zero 4");
  request = gpt2();
  request.model.layers = 0;
  expect_refused(request, "layers 0");
}

TEST(Plan, TheLastStepIsThePeakOfALargeModelWithASmallBatch) {
  TransformerRequest request = gpt2();
  request.training.batch = 1;
  request.training.sequence = 16;
  const auto small = plan(request);
  ASSERT_TRUE(small);
  EXPECT_EQ(small->step.peak_phase(), Phase::optimizer);
  const auto large = plan(gpt2());
  ASSERT_TRUE(large);
  EXPECT_EQ(large->step.peak_phase(), Phase::backward);
}

TEST(Plan, SaysWhatWasNeverMeasured) {
  TransformerRequest request = gpt2();
  EXPECT_TRUE(plan(request)->unverified.empty());
  request.gpus = 8;
  request.zero = 2;
  const auto sharded = plan(request);
  ASSERT_TRUE(sharded);
  ASSERT_EQ(sharded->unverified.size(), 1U);
  EXPECT_GT(sharded->error_percent, plan(gpt2())->error_percent);
  request.training.tensor_parallel = 2;
  request.pipeline = 2;
  EXPECT_EQ(plan(request)->unverified.size(), 3U);
}

TEST(Plan, JsonHasTheKeysThatOthersRead) {
  const auto result = plan(gpt2());
  ASSERT_TRUE(result);
  const base::Json json = to_json(*result);
  for (const char* key :
       {"weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "peak_bytes",
        "peak_phase", "phases", "error_percent", "unverified", "device_bytes"})
    EXPECT_NE(json.find(key), nullptr) << key;
  EXPECT_EQ(json.find("weights_bytes")->as_unsigned(), 4 * 124'439'808U);
  EXPECT_EQ(json.find("optimizer_bytes")->as_unsigned(), 8 * 124'439'808U);
  EXPECT_EQ(json.find("phases")->as_array()->size(), kPhases + 1);
}

TEST(Plan, EveryCombinationIsRehearsedToTheEnd) {
  for (const char* name : {"gpt2", "llama-3.2-1b", "qwen2.5-7b", "gpt-3"}) {
    TransformerModel model = *preset(name);
    model.layers = 2;
    for (const Precision precision :
         {Precision::fp32, Precision::amp, Precision::bf16, Precision::fp16_mixed}) {
      for (const Attention attention : {Attention::eager, Attention::sdpa, Attention::flash}) {
        for (const Checkpoint checkpoint :
             {Checkpoint::none, Checkpoint::full, Checkpoint::selective}) {
          for (const std::uint64_t rank : {0U, 8U}) {
            TransformerRequest request;
            request.model = model;
            request.training.precision = precision;
            request.training.attention = attention;
            request.training.checkpoint = checkpoint;
            request.training.lora_rank = rank;
            request.training.sequence = 96;
            request.training.dropout = 0.1;
            const auto result = plan(request);
            if (attention == Attention::flash && precision == Precision::fp32) {
              EXPECT_FALSE(result);
              continue;
            }
            ASSERT_TRUE(result) << result.error().message;
            EXPECT_GT(result->peak(), result->weights);
          }
        }
      }
    }
  }
}

TEST(Fit, TheLargestBatchFitsAndOneMoreDoesNot) {
  TransformerRequest request = gpt2();
  const auto result = fit(request, 24 * kGiB);
  ASSERT_TRUE(result);
  ASSERT_GT(result->largest_batch, 0U);
  request.training.batch = result->largest_batch;
  EXPECT_TRUE(fits(*plan(request), 24 * kGiB));
  request.training.batch = result->largest_batch + 1;
  EXPECT_FALSE(fits(*plan(request), 24 * kGiB));
}

TEST(Fit, ALearnedPositionEndsTheSequence) {
  const auto result = fit(gpt2(), 140 * kGiB);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->fits);
  EXPECT_EQ(result->largest_sequence, 1024U);
  EXPECT_TRUE(result->changes.empty());
}

TEST(Fit, ChangesAreRankedByWhatTheyCostAndAllFit) {
  TransformerRequest request;
  request.model = *preset("llama-3.2-1b");
  request.training.precision = Precision::fp32;
  request.training.batch = 4;
  request.training.sequence = 2048;
  const auto result = fit(request, 40 * kGiB);
  ASSERT_TRUE(result);
  ASSERT_FALSE(result->fits);
  ASSERT_FALSE(result->changes.empty());
  double last = 0;
  for (const FittingChange& change : result->changes) {
    EXPECT_TRUE(fits(change.plan, 40 * kGiB)) << change.changes.front();
    EXPECT_GE(change.slowdown_percent, last);
    last = change.slowdown_percent;
  }
}

TEST(Fit, NothingFitsIntoNextToNothing) {
  const auto result = fit(gpt2(), 1 << 20);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->fits);
  EXPECT_EQ(result->largest_batch, 0U);
  EXPECT_EQ(result->largest_sequence, 0U);
  EXPECT_TRUE(result->changes.empty());
}

TEST(Fit, IsGivenUpBetweenTwoPlansWhenItIsStopped) {
  for (const int last : {0, 1, 30}) {
    int asked = 0;
    const auto result = fit(gpt2(), 1 << 20, [&] { return asked++ >= last; });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, base::Code::unavailable);
    EXPECT_EQ(asked, last + 1) << "it is not asked again";
  }
  int asked = 0;
  const auto whole = fit(gpt2(), 24 * kGiB, [&] { return asked++ < 0; });
  ASSERT_TRUE(whole);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(whole->largest_batch, fit(gpt2(), 24 * kGiB)->largest_batch);
  NetworkRequest network;
  network.network = *network_named("CNN-MNIST", {}, 10);
  EXPECT_FALSE(fit(network, 24 * kGiB, [] { return true; }));
}

TEST(ParallelClients, AreAsManyAsFit) {
  NetworkRequest request;
  request.network = *network_named("ResNet18", {3, 32, 32}, 10);
  const auto one = plan(request);
  ASSERT_TRUE(one);
  const ParallelClients gpu = clients_on_gpu(*one, 8 * kGiB);
  EXPECT_GT(gpu.count, 0U);
  EXPECT_LE(gpu.count * gpu.per_client + gpu.shared, 8 * kGiB);
  EXPECT_GT((gpu.count + 1) * gpu.per_client + gpu.shared, 8 * kGiB);
  const ParallelClients host = clients_on_host(*one, 8 * kGiB);
  EXPECT_GT(host.count, gpu.count) << "no workspaces, no segments";
  EXPECT_EQ(clients_on_gpu(*one, 1000).count, 0U);
}

}  // namespace
}  // namespace ebb::plan
