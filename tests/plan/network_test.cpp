// SPDX-License-Identifier: Apache-2.0
#include "plan/network.h"

#include <gtest/gtest.h>

#include "plan/plan.h"

namespace ebb::plan {
namespace {

struct Counted {
  const char* name;
  Picture picture;
  std::uint64_t classes;
  std::uint64_t parameters;
};

class NetworkParameters : public testing::TestWithParam<Counted> {};

TEST_P(NetworkParameters, AreExactlyThoseOfTheSimulator) {
  const auto& [name, picture, classes, parameters] = GetParam();
  const auto network = network_named(name, picture, classes);
  ASSERT_TRUE(network);
  const auto count = network->parameters();
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, parameters);
}

constexpr Picture kMnist{1, 28, 28};
constexpr Picture kCifar{3, 32, 32};

INSTANTIATE_TEST_SUITE_P(All, NetworkParameters,
                         testing::Values(Counted{"CNN-MNIST", kMnist, 10, 21'840},
                                         Counted{"CNN-MNIST", kCifar, 10, 31'340},
                                         Counted{"CNN-MNIST", kCifar, 100, 35'930},
                                         Counted{"CNN-MNIST (FedAvg)", kMnist, 10, 1'662'858},
                                         Counted{"LightCNN", kCifar, 10, 519'754},
                                         Counted{"LightCNN", kCifar, 100, 542'884},
                                         Counted{"LightCNN", kMnist, 10, 369'098},
                                         Counted{"CNN-Dropout", kCifar, 10, 1'626'442},
                                         Counted{"CNN-Dropout", kMnist, 62, 1'206'590},
                                         Counted{"ResNet18", kCifar, 10, 11'173'962},
                                         Counted{"ResNet18", kCifar, 100, 11'220'132},
                                         Counted{"ResNet18", kMnist, 10, 11'172'810}));

TEST(Network, GrowsWithItsBatchAlone) {
  NetworkRequest request;
  request.network = *network_named("LightCNN", kCifar, 10);
  request.batch = 64;
  const auto small = plan(request);
  request.batch = 128;
  const auto large = plan(request);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(small->weights, large->weights);
  const double ratio =
      static_cast<double>(large->activations()) / static_cast<double>(small->activations());
  EXPECT_NEAR(ratio, 2, 0.001);
}

TEST(Network, KeepsAByteForEachValueThatADropoutMayDrop) {
  const auto saved = [](const Network& network) {
    NetworkRequest request;
    request.network = network;
    request.batch = 256;
    const auto planned = plan(request);
    EXPECT_TRUE(planned);
    return planned ? planned->step.after_forward.allocated : 0;
  };
  const Network with = *network_named("CNN-Dropout", kCifar, 10);
  Network without = with;
  std::erase_if(without.layers, [](const NetworkLayer& layer) {
    return layer.kind == NetworkLayer::Kind::dropout;
  });
  // And the result of the second one, which the linear layer needs beside that of the relu.
  EXPECT_EQ(saved(with) - saved(without), 256U * (64 * 14 * 14 + 128) + 256U * 128 * 4);
}

TEST(Network, RefusesPicturesThatItsKernelsDoNotFit) {
  const auto network = network_named("CNN-MNIST", {1, 6, 6}, 10);
  ASSERT_TRUE(network);
  const auto count = network->parameters();
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, base::Code::bad_input);
}

TEST(Network, RefusesNoPicturesNoClassesAndForeignPrecisions) {
  const auto network = *network_named("CNN-MNIST", kMnist, 10);
  EXPECT_FALSE(write_network(network, 0, Precision::fp32));
  EXPECT_FALSE(write_network(network, 1, Precision::bf16));
  EXPECT_FALSE(network_named("CNN-MNIST", kMnist, 0)->parameters());
  EXPECT_FALSE(network_named("CNN-MINST", kMnist, 10));
}

TEST(Network, UnderAutocastConvolutionsKeepHalfTheBytes) {
  NetworkRequest request;
  request.network = *network_named("LightCNN", kCifar, 10);
  request.batch = 256;
  const auto plain = plan(request);
  request.precision = Precision::amp;
  const auto half = plan(request);
  ASSERT_TRUE(plain && half);
  EXPECT_LT(half->activations(), plain->activations());
  EXPECT_EQ(half->weights, plain->weights);
}

}  // namespace
}  // namespace ebb::plan
