// SPDX-License-Identifier: Apache-2.0
#include "plan/budget.h"

#include <gtest/gtest.h>

namespace ebb::plan {
namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;

Budget budget(const BudgetOptions& options) {
  const auto found = budget_of(options);
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : Budget{};
}

TEST(Budget, MixedPrecisionAdamTakesSixteenBytesAParameter) {
  BudgetOptions options;
  options.parameters = 7e9;
  options.overhead = "0";
  const Budget seven = budget(options);
  EXPECT_DOUBLE_EQ(seven.bytes_per_parameter, 16);
  EXPECT_EQ(seven.weights, 14 * kGigabyte);
  EXPECT_EQ(seven.gradients, 14 * kGigabyte);
  EXPECT_EQ(seven.master_weights, 28 * kGigabyte);
  EXPECT_EQ(seven.optimizer_state, 56 * kGigabyte);
  EXPECT_EQ(seven.activations, std::nullopt);
  EXPECT_EQ(seven.total(), 112 * kGigabyte);
  EXPECT_EQ(seven.per_gpu(), seven.total());
}

TEST(Budget, Llama7BWithActivationsAndOverhead) {
  BudgetOptions options;
  options.parameters = 7e9;
  options.activation_gb = 8;
  const Budget llama = budget(options);
  EXPECT_EQ(llama.activations, 8 * kGigabyte);
  EXPECT_EQ(llama.overhead, 18 * kGigabyte);  // 15 % of 120
  EXPECT_EQ(llama.total(), 138 * kGigabyte);
}

TEST(Budget, Gpt3IsSplitOverEightDevices) {
  BudgetOptions options;
  options.parameters = 175e9;
  options.gpus = 8;
  options.overhead = "0%";
  const Budget gpt3 = budget(options);
  EXPECT_EQ(gpt3.total(), 2800 * kGigabyte);
  EXPECT_EQ(gpt3.per_gpu(), 350 * kGigabyte);
  options.overhead = "15%";
  EXPECT_EQ(budget(options).per_gpu(), 402'500'000'000U);
}

struct Rule {
  const char* optimizer;
  const char* precision;
  double bytes;
};

class BytesPerParameter : public testing::TestWithParam<Rule> {};

TEST_P(BytesPerParameter, FollowOptimizerAndPrecision) {
  BudgetOptions options;
  options.parameters = 1e9;
  options.optimizer = GetParam().optimizer;
  options.precision = GetParam().precision;
  EXPECT_NEAR(budget(options).bytes_per_parameter, GetParam().bytes, 0.001);
}

INSTANTIATE_TEST_SUITE_P(All, BytesPerParameter,
                         testing::Values(Rule{"adam", "fp32", 16}, Rule{"adamw", "amp", 16},
                                         Rule{"adam", "bf16", 8}, Rule{"adam", "fp16-mixed", 16},
                                         Rule{"sgd", "fp32", 8}, Rule{"sgdm", "fp32", 12},
                                         Rule{"sgd", "mixed", 8}, Rule{"sgdm", "mixed", 12},
                                         Rule{"adam8bit", "bf16", 6.03125},
                                         Rule{"adafactor", "fp32", 8}));

TEST(Budget, AKnownModelIsPlannedBesideTheFormula) {
  BudgetOptions options;
  options.model = "gpt2";
  options.precision = "amp";
  options.batch = 4;
  const Budget gpt2 = budget(options);
  EXPECT_EQ(gpt2.parameters, 124'439'808U);
  ASSERT_TRUE(gpt2.exact);
  EXPECT_EQ(gpt2.weights, gpt2.exact->weights);
  EXPECT_EQ(gpt2.gradients, gpt2.exact->gradients);
  EXPECT_EQ(gpt2.optimizer_state, gpt2.exact->optimizer);
  // What the formula leaves out: activations and logits of four samples.
  ASSERT_TRUE(gpt2.difference_percent());
  EXPECT_LT(*gpt2.difference_percent(), -50);
}

TEST(Budget, OfAModelOnSeveralDevicesItsShareIsPlanned) {
  BudgetOptions options;
  options.model = "llama-7b";
  options.gpus = 8;
  options.overhead = "0";
  const Budget llama = budget(options);
  ASSERT_TRUE(llama.exact);
  EXPECT_EQ(llama.total(), 16 * 6'738'415'616U);
  EXPECT_EQ(llama.exact->weights + llama.exact->gradients + llama.exact->optimizer,
            llama.per_gpu());
}

TEST(Budget, ANetworkOfTheSimulatorTrainsInAmp) {
  BudgetOptions options;
  options.model = "CNN-MNIST";
  const Budget network = budget(options);
  EXPECT_EQ(network.precision, "amp");
  EXPECT_EQ(network.parameters, 21'840U);
}

TEST(Budget, WithoutAModelThereIsNoPlan) {
  BudgetOptions options;
  options.parameters = 1;
  const base::Json json = to_json(budget(options));
  EXPECT_TRUE(json.find("plan")->is_null());
  EXPECT_TRUE(json.find("difference_percent")->is_null());
  EXPECT_TRUE(json.find("activations_bytes")->is_null());
  EXPECT_EQ(json.find("total_bytes")->as_unsigned(), 18U);
}

TEST(Budget, RefusesWhatItCannotCount) {
  const auto expect_refused = [](BudgetOptions options, const char* part) {
    const auto found = budget_of(options);
    ASSERT_FALSE(found) << part;
    EXPECT_EQ(found.error().code, base::Code::bad_input);
    EXPECT_NE(found.error().message.find(part), std::string::npos) << found.error().message;
  };
  BudgetOptions seven;
  seven.parameters = 7e9;
  expect_refused({}, "how many parameters?");
  for (const double number : {0.0, -1.0, 0.5, 1e16}) {
    BudgetOptions options;
    options.parameters = number;
    expect_refused(options, "--params");
  }
  for (const char* overhead : {"", "%", "-1%", "lots", "nan", "2000%"}) {
    BudgetOptions options = seven;
    options.overhead = overhead;
    expect_refused(options, "--overhead");
  }
  BudgetOptions options = seven;
  options.gpus = 0;
  expect_refused(options, "--gpus 0");
  options = seven;
  options.activation_gb = -1;
  expect_refused(options, "--activation-gb");
  options = seven;
  options.precision = "fp8";
  expect_refused(options, "--precision 'fp8'");
  options = seven;
  options.optimizer = "lion";
  expect_refused(options, "optimizer 'lion'");
  options = seven;
  options.batch = 4;
  expect_refused(options, "--model");
  options = {};
  options.model = "lama-7b";
  expect_refused(options, "did you mean llama-7b?");
  options.model = "CNN-MNIST";
  options.gpus = 2;
  expect_refused(options, "one device");
  options.gpus = 1;
  options.sequence = 2;
  expect_refused(options, "--seq");
}

}  // namespace
}  // namespace ebb::plan
