// SPDX-License-Identifier: Apache-2.0
// What a card evaluates with is the network that the host evaluates.
#include <numeric>

#include "fl/torch/backend.h"
#include "fl/torch/batched_network.h"
#include "fl/torch/side_by_side.h"
#include "plan/network_file.h"

namespace ebb::fl {
namespace {

constexpr const char* kEveryKind = R"({"name": "kinds", "layers": [
  {"type": "conv2d", "out_channels": 32, "kernel_size": 3, "padding": 1}, {"type": "relu"},
  {"type": "conv2d", "out_channels": 36, "kernel_size": 3, "stride": 2}, {"type": "relu"},
  {"type": "max_pool2d", "kernel_size": 2}, {"type": "dropout", "p": 0.25},
  {"type": "conv2d", "out_channels": 40, "kernel_size": 1},
  {"type": "group_norm", "num_groups": 4}, {"type": "relu"},
  {"type": "conv2d", "out_channels": 40, "kernel_size": 2, "bias": false},
  {"type": "max_pool2d", "kernel_size": 2},
  {"type": "linear", "out_features": 32}, {"type": "relu"}, {"type": "dropout", "p": 0.5},
  {"type": "linear", "out_features": "classes"}]})";

class EvaluationOnACard : public testing::TestWithParam<const char*> {
 protected:
  EvaluationOnACard() {
    EXPECT_TRUE(use_backend(Backend::native));
    at::manual_seed(1);
    const std::string model = GetParam();
    const auto network = model.starts_with('{') ? plan::network_from(model, "network", kPicture, 10)
                                                : plan::network_named(model, kPicture, 10);
    EXPECT_TRUE(network) << network.error().message;
    network_ = *network;
    const auto shape = shape_of(network_);
    EXPECT_TRUE(shape) << shape.error().message;
    shape_ = *shape;
    const at::Tensor values = at::randn({static_cast<std::int64_t>(shape_.elements)}) * 0.05;
    weights_.assign(values.data_ptr<float>(), values.data_ptr<float>() + shape_.elements);
  }

  at::Tensor answers(BatchedNetwork::Use use, const at::Tensor& pictures) {
    const at::NoGradGuard guard;
    BatchedNetwork network(network_, shape_, 1, at::kCPU, use);
    network.load(weights_);
    return network.forward(pictures);
  }

  static constexpr plan::Picture kPicture{3, 20, 20};
  plan::Network network_;
  NetworkShape shape_;
  std::vector<float> weights_;
};

TEST_P(EvaluationOnACard, GivesTheAnswersOfThePlainNetwork) {
  const at::Tensor pictures = at::randn({1, 6, 3, 20, 20});
  const at::Tensor plain = answers(BatchedNetwork::Use::training, pictures);
  const at::Tensor found = answers(BatchedNetwork::Use::evaluation, pictures);
  ASSERT_EQ(found.sizes(), plain.sizes());
  EXPECT_LT((found - plain).abs().max().item<double>(), 1e-4 * plain.abs().max().item<double>());
}

TEST_P(EvaluationOnACard, GivesTheSameWhateverElseIsInTheBatch) {
  SyntheticOptions options;
  options.picture = kPicture;
  options.train = 10;
  options.test = 50;
  const auto data = synthetic_data_set(options);
  ASSERT_TRUE(data);
  std::vector<std::uint32_t> samples(50);
  std::iota(samples.begin(), samples.end(), 0U);
  Evaluation whole(10);
  for (const std::uint32_t at_a_time : {64U, 8U}) {
    const SideBySide side_by_side(network_, shape_, **data, at::kCPU, {.evaluated = at_a_time});
    const Evaluation found = side_by_side.evaluate(weights_, (*data)->test, samples);
    if (whole.samples == 0) whole = found;
    EXPECT_EQ(found.samples, 50U);
    EXPECT_EQ(found.confusion, whole.confusion) << at_a_time;
    EXPECT_NEAR(found.loss_sum, whole.loss_sum, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EvaluationOnACard,
                         testing::Values("CNN-MNIST", "CNN-Dropout", "LightCNN", "ResNet18",
                                         kEveryKind),
                         [](const auto& model) {
                           std::string name;
                           for (const char c : std::string(model.param).substr(0, 18))
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           return name;
                         });

}  // namespace
}  // namespace ebb::fl
