// SPDX-License-Identifier: Apache-2.0
#include "fl/network_shape.h"

namespace ebb::fl {
namespace {

std::size_t parameters(const char* model, const plan::Picture& picture, std::uint64_t classes) {
  const auto network = plan::network_named(model, picture, classes);
  EXPECT_TRUE(network);
  const auto shape = shape_of(*network);
  EXPECT_TRUE(shape) << shape.error().message;
  return shape ? shape->elements : 0;
}

TEST(NetworkShape, HasTheParametersOfThePublishedModels) {
  const plan::Picture grey{1, 28, 28};
  const plan::Picture colours{3, 32, 32};
  EXPECT_EQ(parameters("cnn-mnist", grey, 10), 21840U);
  EXPECT_EQ(parameters("cnn-mnist", colours, 10), 31340U);
  EXPECT_EQ(parameters("cnn-mnist", colours, 100), 35930U);
  EXPECT_EQ(parameters("cnn-mnist-fedavg", grey, 10), 1662858U);
  EXPECT_EQ(parameters("lightcnn", colours, 10), 519754U);
  EXPECT_EQ(parameters("lightcnn", colours, 100), 542884U);
  EXPECT_EQ(parameters("lightcnn", grey, 10), 369098U);
  EXPECT_EQ(parameters("resnet18", colours, 10), 11173962U);
  EXPECT_EQ(parameters("resnet18", colours, 100), 11220132U);
  EXPECT_EQ(parameters("cnn-dropout", colours, 10), 1626442U);
  EXPECT_EQ(parameters("ResNet18", grey, 10), 11172810U);
}

TEST(NetworkShape, CountsTheMultiplicationsOfAForwardPass) {
  const auto network = plan::network_named("cnn-mnist", {1, 28, 28}, 10);
  const auto shape = shape_of(*network);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->macs_per_sample, 10 * 576 * 25 + 20 * 64 * 250 + 320 * 50 + 50 * 10);
  EXPECT_EQ(shape->flops_per_sample(), 6 * shape->macs_per_sample);
  EXPECT_EQ(shape->largest_columns, 250U * 64U);
}

TEST(NetworkShape, KeepsTheColumnsOfConvolutionsWithFewInputs) {
  const auto dropout = shape_of(*plan::network_named("cnn-dropout", {3, 32, 32}, 10));
  ASSERT_TRUE(dropout);
  EXPECT_EQ(dropout->kept_columns, 27U * 30 * 30 + 288U * 28 * 28);
  // All but the first have 64 inputs or more.
  const auto residual = shape_of(*plan::network_named("resnet18", {3, 32, 32}, 10));
  ASSERT_TRUE(residual);
  EXPECT_EQ(residual->kept_columns, 27U * 32 * 32);
}

TEST(NetworkShape, RefusesPicturesThatAreTooSmall) {
  const auto network = plan::network_named("cnn-mnist", {1, 8, 8}, 10);
  ASSERT_TRUE(network);
  EXPECT_FALSE(shape_of(*network));
}

}  // namespace
}  // namespace ebb::fl
