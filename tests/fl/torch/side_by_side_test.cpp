// SPDX-License-Identifier: Apache-2.0
// Clients side by side in one batched network come to what they come to one by one.
#include "fl/torch/batched_network.h"

#include <cctype>
#include <limits>
#include <string>
#include <string_view>

#include "fl/torch/backend.h"
#include "fl/torch/layers.h"
#include "fl/torch/nearness.h"
#include "fl/torch/rectified.h"
#include "plan/network_file.h"

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
    EXPECT_TRUE(use_backend(Backend::native));
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

/// A flow of three clients, with values that are equal, and what goes on from there.
struct Rectifying {
  Rectifying(std::int64_t height, std::int64_t width)
      : flow(leaf((at::randn({2, 15, height, width}) * 2)
                      .round()
                      .contiguous(at::MemoryFormat::ChannelsLast))),
        bias(leaf(at::randn({3, 5}))),
        mask(at::rand({3, 2, 5 * (height / 2) * (width / 2)}).ge(0.25)),
        pull(at::randn(mask.sizes())) {}

  at::Tensor biased() const { return (flow + bias.reshape({1, -1, 1, 1})).relu(); }
  /// Of what `out` comes to: the gradients of the flow and of the bias.
  std::pair<at::Tensor, at::Tensor> gradients(const at::Tensor& out, const at::Tensor& by) {
    flow.mutable_grad() = at::Tensor();
    bias.mutable_grad() = at::Tensor();
    out.backward(by);
    return {flow.grad(), bias.grad()};
  }
  static at::Tensor leaf(at::Tensor values) { return values.set_requires_grad(true); }

  at::Tensor flow;
  at::Tensor bias;
  at::Tensor mask;
  at::Tensor pull;
};

TEST_F(SideBySideTest, RectifyingHasTheBitsOfPlainLayers) {
  Rectifying given(6, 7);
  const at::Tensor out = rectified(given.flow, given.bias, nullptr);
  const at::Tensor plain = given.biased();
  EXPECT_TRUE(at::equal(out, plain));
  const at::Tensor pull = at::randn(out.sizes());
  const auto [flow, bias] = given.gradients(out, pull);
  const auto [plain_flow, plain_bias] = given.gradients(plain, pull);
  EXPECT_TRUE(at::equal(flow, plain_flow));
  EXPECT_LT(difference(bias, plain_bias), 1e-5);
}

TEST_F(SideBySideTest, PoolingWhatIsRectifiedHasTheBitsOfPlainLayers) {
  constexpr double kScale = 4.0 / 3;
  for (const auto& [height, width] : {std::pair(6, 8), std::pair(7, 9), std::pair(2, 2)}) {
    Rectifying given(height, width);
    for (const bool drops : {false, true}) {
      SCOPED_TRACE(testing::Message() << height << " " << width << " " << drops);
      const at::Tensor out = rectified_and_pooled(
          given.flow, given.bias, drops ? given.mask : at::Tensor(), drops ? kScale : 1, nullptr);
      at::Tensor plain = at::max_pool2d(given.biased(), {2, 2}).reshape({2, 3, -1}).transpose(0, 1);
      if (drops) plain = plain.mul(given.mask).mul(kScale);
      EXPECT_TRUE(at::equal(out, plain));
      const auto [flow, bias] = given.gradients(out, given.pull);
      const auto [plain_flow, plain_bias] = given.gradients(plain, given.pull);
      EXPECT_TRUE(at::equal(flow, plain_flow));
      EXPECT_LT(difference(bias, plain_bias), 1e-5);
    }
  }
}

/// A normalisation of three clients with what follows it, and its gradients, against PyTorch's.
void expect_plain_normalisation(const Layers& layers, std::int64_t channels, std::int64_t size,
                                bool adds, bool rectifies) {
  SCOPED_TRACE(testing::Message() << channels << " " << size << " " << adds << " " << rectifies);
  const auto leaf = [](at::Tensor values) { return values.set_requires_grad(true); };
  // Far from 0, where sums of squares alone would lose what there is.
  const at::Tensor pictures = leaf(at::randn({3, 4, channels, size, size}) + 50);
  const at::Tensor added = leaf(at::randn({3, 4, channels, size, size}));
  const at::Tensor scale = leaf(at::randn({3, channels}));
  const at::Tensor shift = leaf(at::randn({3, channels}));
  const at::Tensor pull = at::randn({3, 2, channels * size * size});
  const auto pulled = [&](const Layers& kinds, const at::Tensor& flow, const at::Tensor& more,
                          const at::Tensor& times, const at::Tensor& plus, const at::Tensor& by) {
    return kinds.multiply(kinds.normalise(kinds.enter(flow), 2, times, plus,
                                          adds ? kinds.enter(more) : at::Tensor(), rectifies),
                          by, at::Tensor());
  };
  const at::Tensor out = pulled(layers, pictures, added, scale, shift, pull);
  out.sum().backward();
  const auto plain = plain_layers();
  for (std::int64_t client = 0; client < 3; ++client) {
    const auto own = [&](const at::Tensor& of) { return leaf(of.detach()[client].clone()); };
    const at::Tensor own_pictures = own(pictures);
    const at::Tensor own_added = own(added);
    const at::Tensor own_scale = own(scale);
    const at::Tensor own_shift = own(shift);
    const at::Tensor alone = pulled(*plain, own_pictures.unsqueeze(0), own_added.unsqueeze(0),
                                    own_scale, own_shift, pull[client]);
    alone.sum().backward();
    EXPECT_LT(difference(out.detach()[client], alone.detach()), 1e-4);
    EXPECT_LT(difference(pictures.grad()[client], own_pictures.grad()), 1e-4);
    EXPECT_LT(difference(scale.grad()[client], own_scale.grad()), 1e-4);
    EXPECT_LT(difference(shift.grad()[client], own_shift.grad()), 1e-4);
    if (adds) {
      EXPECT_LT(difference(added.grad()[client], own_added.grad()), 1e-5);
    }
  }
}

TEST_F(SideBySideTest, NormalisationsAreThoseOfPlainOnes) {
  for (const auto& layers : {column_layers(), grouped_layers(3)}) {
    for (const bool adds : {false, true}) {
      for (const bool rectifies : {false, true}) {
        expect_plain_normalisation(*layers, 8, 5, adds, rectifies);
        expect_plain_normalisation(*layers, 8, 9, adds, rectifies);
        expect_plain_normalisation(*layers, 2, 7, adds, rectifies);
        expect_plain_normalisation(*layers, 8, 1, adds, rectifies);
      }
    }
  }
}

TEST_F(SideBySideTest, NormalisingWhatIsNoNumberLeavesNone) {
  const at::Tensor none = at::full({3, 4, 8, 5, 5}, std::numeric_limits<float>::quiet_NaN());
  const auto layers = grouped_layers(3);
  const at::Tensor out = layers->normalise(layers->enter(none), 2, at::ones({3, 8}),
                                           at::zeros({3, 8}), at::Tensor(), true);
  EXPECT_TRUE(out.isnan().all().item<bool>());
}

// Normalisation first: what comes around is added to what a convolution without bias gives.
constexpr const char* kFewChannels = R"({"name": "few", "layers": [
  {"type": "conv2d", "out_channels": 8, "kernel_size": 3, "stride": 2, "padding": 1},
  {"type": "residual", "body": [
    {"type": "group_norm", "num_groups": 4}, {"type": "relu"},
    {"type": "conv2d", "out_channels": 8, "kernel_size": 3, "padding": 1, "bias": false}]},
  {"type": "linear", "out_features": 10}]})";
constexpr const char* kManyChannels = R"({"name": "many", "layers": [
  {"type": "conv2d", "out_channels": 64, "kernel_size": 3, "stride": 4, "padding": 1},
  {"type": "residual", "body": [
    {"type": "group_norm", "num_groups": 4}, {"type": "relu"},
    {"type": "conv2d", "out_channels": 64, "kernel_size": 3, "padding": 1, "bias": false}]},
  {"type": "conv2d", "out_channels": 64, "kernel_size": 1},
  {"type": "linear", "out_features": 10}]})";

class BatchedNetworkTest : public SideBySideTest,
                           public testing::WithParamInterface<const char*> {};

TEST_P(BatchedNetworkTest, TrainsSeveralClientsAsIfOneByOne) {
  const plan::Picture picture{3, 16, 16};
  const auto network = std::string_view(GetParam()).starts_with('{')
                           ? plan::network_from(GetParam(), "network", picture, 10)
                           : plan::network_named(GetParam(), picture, 10);
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

  // Several clients may move in backward(), where nothing pulls them back; one has its gradients.
  const auto steps = [&](BatchedNetwork& clients, std::int64_t first, std::int64_t count,
                         double proximal) {
    clients.load(weights);
    for (std::int64_t step = 0; step < 2; ++step) {
      const at::Tensor logits =
          clients.forward(pictures[step].narrow(0, first, count), nullptr, proximal > 0 ? 0 : 0.01);
      const at::Tensor right = labels[step].narrow(0, first, count);
      at::cross_entropy_loss(logits.flatten(0, 1), right.flatten(), {}, at::Reduction::Sum)
          .backward();
      clients.step(0.01, proximal);
    }
    const auto elements = static_cast<std::int64_t>(weights.size());
    std::vector<float> trained(static_cast<std::size_t>(count) * weights.size());
    const at::Tensor rows = at::from_blob(trained.data(), {count, elements}, at::kFloat);
    for (std::int64_t client = 0; client < count; ++client)
      clients.store(client, rows[client]);
    EXPECT_TRUE(clients.finite().all().item<bool>());
    return trained;
  };
  for (const double proximal : {0.1, 0.0}) {
    BatchedNetwork together(*network, *shape, kClients, at::kCPU);
    const std::vector<float> side_by_side = steps(together, 0, kClients, proximal);
    for (std::int64_t client = 0; client < kClients; ++client) {
      BatchedNetwork alone(*network, *shape, 1, at::kCPU);
      const std::vector<float> own = steps(alone, client, 1, proximal);
      const auto theirs = std::span(side_by_side)
                              .subspan(static_cast<std::size_t>(client) * own.size(), own.size());
      EXPECT_LT(apart(weights, own, theirs), kRounding) << client << " " << proximal;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BatchedNetworkTest,
                         testing::Values("CNN-MNIST", "LightCNN", "CNN-Dropout", "ResNet18",
                                         kFewChannels, kManyChannels),
                         [](const auto& model) {
                           std::string name;
                           for (const char c : std::string(model.param).substr(0, 40))
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           return name;
                         });

}  // namespace
}  // namespace ebb::fl
