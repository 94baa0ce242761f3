// SPDX-License-Identifier: Apache-2.0
// Three rounds of another simulator, recorded: initial weights, cohorts, the order of every sample,
// weights after each round. Each round, done again from the recorded weights before it, has to come
// to the same weights but for the rounding of sums. (Over several rounds a sign at a kink of the
// network, rounded the other way by another processor, grows to 1e-4.)
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "fl/aggregate/update_sum.h"
#include "fl/torch/torch_trainer.h"
#include "support/effort.h"

namespace ebb::fl {
namespace {

template <class T>
std::vector<T> values_of(const std::string& name) {
  const auto bytes = base::read_file(std::string(EBB_TEST_DATA) + "/fl/golden/" + name);
  EXPECT_TRUE(bytes) << bytes.error().message;
  std::vector<T> values(bytes ? bytes->size() / sizeof(T) : 0);
  if (!values.empty()) std::memcpy(values.data(), bytes->data(), values.size() * sizeof(T));
  return values;
}

class GoldenTrace : public testing::TestWithParam<Backend> {};

TEST_P(GoldenTrace, IsReproduced) {
  const auto data = load_data_set("fashion-mnist", "");
  ASSERT_TRUE(data) << data.error().message;
  const auto network = plan::network_named("cnn-mnist", (*data)->picture, (*data)->classes);
  ASSERT_TRUE(network);
  const auto trainer = TorchTrainer::create(*network, *data, GetParam(), {});
  ASSERT_TRUE(trainer) << trainer.error().message;
  const auto meta =
      base::parse_json(*base::read_file(std::string(EBB_TEST_DATA) + "/fl/golden/meta.json"));
  ASSERT_TRUE(meta);
  std::vector<float> weights = values_of<float>("init.f32");
  ASSERT_EQ(weights.size(), (*trainer)->parameters());
  const auto offsets = values_of<std::int32_t>("part_offsets.i32");
  std::vector<std::uint32_t> all((*data)->test.size());
  for (std::uint32_t i = 0; i < all.size(); ++i)
    all[i] = i;

  // Rounds do not build upon each other: one of them tells almost as much.
  const std::uint32_t rounds = static_cast<std::uint32_t>(support::trials(1, 3));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const std::string prefix = "r" + std::to_string(round);
    const auto cohort = values_of<std::int32_t>(prefix + ".cohort.i32");
    const auto order = values_of<std::uint32_t>(prefix + ".order.i32");
    const base::Json& told = (*meta->find("rounds")->as_array())[round];
    UpdateSum sum(weights.size(), 60000);
    std::vector<float> trained(weights.size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < cohort.size(); ++i) {
      const auto client = static_cast<std::size_t>(cohort[i]);
      const auto count = static_cast<std::size_t>(offsets[client + 1] - offsets[client]);
      LocalTask task;
      task.client = static_cast<std::uint32_t>(client);
      task.round = round;
      task.order = std::span(order).subspan(at, count);
      at += count;
      const auto result = (*trainer)->train(0, weights, task, trained);
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_NEAR(result->last_loss, *(*told.find("last_batch_loss")->as_array())[i].as_double(),
                  1e-3);
      ASSERT_TRUE(sum.add(weights, trained, static_cast<double>(count)));
    }
    EXPECT_EQ(at, order.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<float>(static_cast<double>(weights[i]) + sum.sum(i) / sum.weight());

    const auto expected = values_of<float>(prefix + ".weights.f32");
    ASSERT_EQ(expected.size(), weights.size());
    float largest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      largest = std::max(largest, std::fabs(weights[i] - expected[i]));
    EXPECT_LT(largest, 1e-4F);
    const auto evaluation = (*trainer)->evaluate(0, weights, (*data)->test, all);
    ASSERT_TRUE(evaluation);
    EXPECT_NEAR(evaluation->accuracy(), *told.find("accuracy")->as_double(), 3.0 / 10000);
    EXPECT_NEAR(evaluation->loss(), *told.find("loss")->as_double(), 1e-4);
    weights = expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, GoldenTrace, testing::Values(Backend::native, Backend::onednn),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

}  // namespace
}  // namespace ebb::fl
