// SPDX-License-Identifier: Apache-2.0
// Clients side by side in one batched network come to what they come to one by one.
#include "fl/torch/batched_network.h"

#include "fl/torch/backend.h"
#include "fl/torch/layers.h"
#include "fl/torch/nearness.h"

namespace ebb::fl {
namespace {

/// The largest difference, of the order of the values.
double difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1e-6)).item<double>();
}

/// A convolution of three clients, and its gradients, against three plain ones.
void expect_plain_convolutions(const Layers& layers, std::int64_t size, std::int64_t kernel,
                               std::int64_t stride, std::int64_t padding) {
  SCOPED_TRACE(testing::Message() << size << " " << kernel << " " << stride << " " << padding);
  const at::Tensor pictures = at::randn({3, 4, 2, size, size}).set_requires_grad(true);
  const at::Tensor weight = at::randn({3, 5, 2, kernel, kernel}).set_requires_grad(true);
  const at::Tensor bias = at::randn({3, 5}).set_requires_grad(true);
  const at::Tensor flow = layers.convolve(layers.enter(pictures), weight, bias, stride, padding);
  // Sums over all but clients and samples, so that layouts do not matter.
  const std::int64_t features = flow.numel() / 12;
  const at::Tensor pull = at::randn({3, 1, features});
  const at::Tensor out = layers.leave(layers.multiply(flow, pull, at::Tensor()));
  out.sum().backward();
  const auto plain = plain_layers();
  for (std::int64_t client = 0; client < 3; ++client) {
    const at::Tensor own_pictures =
        pictures.detach()[client].clone().unsqueeze(0).set_requires_grad(true);
    const at::Tensor own_weight = weight.detach()[client].clone().set_requires_grad(true);
    const at::Tensor own_bias = bias.detach()[client].clone().set_requires_grad(true);
    const at::Tensor own_flow =
        plain->convolve(plain->enter(own_pictures), own_weight, own_bias, stride, padding);
    const at::Tensor own = plain->multiply(own_flow, pull[client], at::Tensor());
    own.sum().backward();
    EXPECT_LT(difference(out[client], own), 1e-5);
    EXPECT_LT(difference(pictures.grad()[client], own_pictures.grad()[0]), 1e-5);
    EXPECT_LT(difference(weight.grad()[client], own_weight.grad()), 1e-5);
    EXPECT_LT(difference(bias.grad()[client], own_bias.grad()), 1e-5);
  }
}

/// The backend and the random numbers are the process's: each case has them as if it were the
/// first.
class SideBySideTest : public testing::Test {
 protected:
  SideBySideTest() {
    EXPECT_TRUE(use_backend("native"));
    at::manual_seed(1);
  }
};

TEST_F(SideBySideTest, ConvolutionsHaveTheValuesAndGradientsOfPlainOnes) {
  for (const auto& layers : {column_layers(), grouped_layers(3)}) {
    expect_plain_convolutions(*layers, 8, 3, 1, 1);
    expect_plain_convolutions(*layers, 9, 5, 1, 0);
    expect_plain_convolutions(*layers, 8, 3, 2, 1);
    expect_plain_convolutions(*layers, 9, 3, 2, 1);
    expect_plain_convolutions(*layers, 8, 1, 2, 0);
    expect_plain_convolutions(*layers, 9, 1, 2, 0);
    expect_plain_convolutions(*layers, 7, 1, 3, 0);
    expect_plain_convolutions(*layers, 5, 1, 1, 0);
    expect_plain_convolutions(*layers, 5, 1, 1, 1);
    expect_plain_convolutions(*layers, 7, 5, 1, 2);
  }
}

TEST_F(SideBySideTest, NormalisationsAreThoseOfPlainOnes) {
  const at::Tensor pictures = at::randn({3, 4, 8, 5, 5});
  const at::Tensor scale = at::randn({3, 8});
  const at::Tensor shift = at::randn({3, 8});
  const at::Tensor pull = at::randn({3, 2, 8 * 25});
  const auto plain = plain_layers();
  for (const auto& layers : {column_layers(), grouped_layers(3)}) {
    const at::Tensor out = layers->multiply(
        layers->normalise(layers->enter(pictures), 2, scale, shift), pull, at::Tensor());
    for (std::int64_t client = 0; client < 3; ++client) {
      const at::Tensor own =
          plain->multiply(plain->normalise(plain->enter(pictures[client].unsqueeze(0)), 2,
                                           scale[client], shift[client]),
                          pull[client], at::Tensor());
      EXPECT_LT(difference(out[client], own), 1e-5);
    }
  }
}

class BatchedNetworkTest : public SideBySideTest,
                           public testing::WithParamInterface<const char*> {};

TEST_P(BatchedNetworkTest, TrainsSeveralClientsAsIfOneByOne) {
  const plan::Picture picture{3, 16, 16};
  const auto network = plan::network_named(GetParam(), picture, 10);
  ASSERT_TRUE(network) << network.error().message;
  const auto shape = shape_of(*network);
  ASSERT_TRUE(shape) << shape.error().message;
  constexpr std::int64_t kClients = 3;
  constexpr std::int64_t kBatch = 4;
  std::vector<float> weights(shape->elements);
  at::from_blob(weights.data(), {static_cast<std::int64_t>(weights.size())}, at::kFloat)
      .copy_(at::randn({static_cast<std::int64_t>(weights.size())}) * 0.05);
  const at::Tensor pictures = at::randn({2, kClients, kBatch, 3, 16, 16});
  const at::Tensor labels = at::randint(10, {2, kClients, kBatch}, at::kLong);

  const auto steps = [&](BatchedNetwork& clients, std::int64_t first, std::int64_t count) {
    clients.load(weights);
    for (std::int64_t step = 0; step < 2; ++step) {
      const at::Tensor logits = clients.forward(pictures[step].narrow(0, first, count));
      const at::Tensor right = labels[step].narrow(0, first, count);
      at::cross_entropy_loss(logits.flatten(0, 1), right.flatten(), {}, at::Reduction::Sum)
          .backward();
      clients.step(0.01, 0.1);
    }
    const auto elements = static_cast<std::int64_t>(weights.size());
    std::vector<float> trained(static_cast<std::size_t>(count) * weights.size());
    const at::Tensor rows = at::from_blob(trained.data(), {count, elements}, at::kFloat);
    for (std::int64_t client = 0; client < count; ++client)
      clients.store(client, rows[client]);
    EXPECT_TRUE(clients.finite().all().item<bool>());
    return trained;
  };
  BatchedNetwork together(*network, *shape, kClients, at::kCPU);
  const std::vector<float> side_by_side = steps(together, 0, kClients);
  for (std::int64_t client = 0; client < kClients; ++client) {
    BatchedNetwork alone(*network, *shape, 1, at::kCPU);
    const std::vector<float> own = steps(alone, client, 1);
    const auto theirs =
        std::span(side_by_side).subspan(static_cast<std::size_t>(client) * own.size(), own.size());
    EXPECT_LT(apart(weights, own, theirs), kRounding) << client;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BatchedNetworkTest,
                         testing::Values("CNN-MNIST", "LightCNN", "CNN-Dropout", "ResNet18"),
                         [](const auto& model) {
                           std::string name;
                           for (const char c : std::string(model.param))
                             if (c != '-') name += c;
                           return name;
                         });

}  // namespace
}  // namespace ebb::fl
