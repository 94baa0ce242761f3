// SPDX-License-Identifier: Apache-2.0
// What is dropped follows from seed, round, client, step and place alone.
#include "fl/torch/dropout.h"

#include "fl/torch/backend.h"
#include "fl/torch/batched_network.h"

namespace ebb::fl {
namespace {

LocalTask task_of(std::uint32_t client, std::uint32_t round = 3, std::uint64_t seed = 7) {
  LocalTask task;
  task.client = client;
  task.round = round;
  task.seed = seed;
  return task;
}

NetworkShape two_layers() {
  NetworkShape shape;
  shape.dropouts = {{0.25, 29}, {0.5, 1003}};
  return shape;
}

at::Tensor mask_of(const std::vector<LocalTask>& tasks, std::size_t layer, std::size_t step,
                   std::int64_t rows) {
  const NetworkShape shape = two_layers();
  Dropout dropout(shape, tasks, at::kCPU);
  dropout.begin(step);
  return dropout.mask(layer, rows);
}

TEST(DropoutMasks, AreTheSameByOperationsOnTensorsAsInALoop) {
  const NetworkShape shape = two_layers();
  // Numbers with their highest bits set, too: products then look negative to a device.
  const std::vector<LocalTask> tasks = {task_of(0), task_of(41), task_of(0xffffffff, 0x80000001),
                                        task_of(0x9abcdef0, 2000000000)};
  Dropout dropout(shape, tasks, at::kCPU);
  for (const std::size_t step : {0U, 1U, 1000U}) {
    dropout.begin(step);
    for (const std::size_t layer : {0U, 1U}) {
      for (const std::int64_t rows : {1, 10, 32}) {
        const at::Tensor looped = dropout.mask_by_loop(layer, rows);
        EXPECT_EQ(looped.sizes(), dropout.mask_by_operations(layer, rows).sizes());
        EXPECT_TRUE(looped.equal(dropout.mask_by_operations(layer, rows)))
            << step << " " << layer << " " << rows;
      }
    }
  }
}

TEST(DropoutMasks, AreTheSameOnEveryMachine) {
  const at::Tensor mask = mask_of({task_of(5)}, 0, 2, 1);
  // Out of Philox 4x32-10 as written in Python for this, with the seed spread as random.cpp does.
  std::string bits;
  for (std::int64_t i = 0; i < mask.numel(); ++i)
    bits += mask.flatten()[i].item<bool>() ? '1' : '0';
  EXPECT_EQ(bits, "11110111101111111110111111111");
}

TEST(DropoutMasks, AreAClientsOwnWhoeverTrainsBesideItAndHoweverManyRowsThereAre) {
  const at::Tensor together = mask_of({task_of(1), task_of(2), task_of(3)}, 1, 4, 16);
  for (std::uint32_t client = 1; client <= 3; ++client) {
    const at::Tensor alone = mask_of({task_of(client)}, 1, 4, 10);
    EXPECT_TRUE(together[client - 1].narrow(0, 0, 10).equal(alone[0])) << client;
  }
  EXPECT_FALSE(together[0].equal(together[1]));
}

TEST(DropoutMasks, DifferBySeedRoundClientStepRowAndLayer) {
  const at::Tensor one = mask_of({task_of(1)}, 1, 4, 2);
  EXPECT_FALSE(one.equal(mask_of({task_of(2)}, 1, 4, 2)));
  EXPECT_FALSE(one.equal(mask_of({task_of(1, 4)}, 1, 4, 2)));
  EXPECT_FALSE(one.equal(mask_of({task_of(1, 3, 8)}, 1, 4, 2)));
  EXPECT_FALSE(one.equal(mask_of({task_of(1)}, 1, 5, 2)));
  EXPECT_FALSE(one[0][0].equal(one[0][1]));
  EXPECT_FALSE(one[0][0].narrow(0, 0, 29).equal(mask_of({task_of(1)}, 0, 4, 1)[0][0]));
}

TEST(DropoutMasks, DropTheShareThatIsAskedForAndKeepTheMean) {
  NetworkShape shape;
  shape.dropouts = {{0.25, 1000}, {0.1, 1000}, {0, 1000}, {0.9999999, 1000}};
  const std::vector<LocalTask> tasks = {task_of(1), task_of(2)};
  Dropout dropout(shape, tasks, at::kCPU);
  const auto kept = [&](std::size_t layer) {
    return dropout.mask(layer, 100).to(at::kDouble).mean().item<double>();
  };
  // Of 200,000 values; four standard deviations are 0.004 at most.
  EXPECT_NEAR(kept(0), 0.75, 0.004);
  EXPECT_NEAR(kept(1), 0.9, 0.003);
  EXPECT_EQ(kept(2), 1);
  EXPECT_LT(kept(3), 0.001);
  EXPECT_EQ(dropout.scale(0), 1 / 0.75);
  EXPECT_NEAR(dropout.scale(1), 1 / 0.9, 1e-4);
  EXPECT_EQ(dropout.scale(2), 1);
  EXPECT_EQ(dropout.scale(3), 65536);
}

/// Two blocks of random numbers of another layer lie beside each other; a value is decided by two
/// bytes: every value has to be as likely as any other.
TEST(DropoutMasks, DropEveryPlaceAlike) {
  const NetworkShape shape = two_layers();
  std::vector<LocalTask> tasks;
  for (std::uint32_t client = 0; client < 400; ++client)
    tasks.push_back(task_of(client));
  Dropout dropout(shape, tasks, at::kCPU);
  const at::Tensor by_place = dropout.mask(0, 10).to(at::kDouble).flatten(0, 1).mean(0);
  // Of 4000 each; five standard deviations.
  EXPECT_GT(by_place.min().item<double>(), 0.75 - 0.035);
  EXPECT_LT(by_place.max().item<double>(), 0.75 + 0.035);
}

TEST(DropoutMasks, LieAsWhatFlowsDoes) {
  ASSERT_TRUE(use_backend(Backend::native));
  const at::Tensor pictures = at::arange(3 * 4 * 2 * 5 * 6, at::kFloat).view({3, 4, 2, 5, 6});
  // A mask that knows each value's place: laid out, it has to be the flow itself.
  const at::Tensor places = pictures.flatten(2);
  for (const auto& layers : {column_layers(), grouped_layers(3)}) {
    const at::Tensor flow = layers->enter(pictures);
    EXPECT_TRUE(layers->lay_out(places, flow).equal(flow));
    const at::Tensor flat = layers->multiply(flow, at::randn({3, 7, 60}), at::Tensor());
    EXPECT_TRUE(layers->lay_out(flat, flat).equal(flat));
  }
  const auto plain = plain_layers();
  const at::Tensor flow = plain->enter(pictures.narrow(0, 1, 1));
  EXPECT_TRUE(plain->lay_out(places.narrow(0, 1, 1), flow).equal(flow));
}

TEST(DropoutMasks, AreLeftOutWhereNobodyTrains) {
  ASSERT_TRUE(use_backend(Backend::native));
  const auto network = plan::network_named("CNN-Dropout", {1, 12, 12}, 10);
  ASSERT_TRUE(network);
  const auto shape = shape_of(*network);
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->dropouts.size(), 2U);
  EXPECT_EQ(shape->dropouts[0].values, 64U * 4U * 4U);
  EXPECT_EQ(shape->dropouts[1].values, 128U);
  plan::Network bare = *network;
  std::erase_if(bare.layers, [](const plan::NetworkLayer& layer) {
    return layer.kind == plan::NetworkLayer::Kind::dropout;
  });
  const auto bare_shape = shape_of(bare);
  ASSERT_TRUE(bare_shape);
  at::manual_seed(1);
  std::vector<float> weights(shape->elements);
  at::from_blob(weights.data(), {static_cast<std::int64_t>(weights.size())}, at::kFloat)
      .copy_(at::randn({static_cast<std::int64_t>(weights.size())}) * 0.05);
  BatchedNetwork with(*network, *shape, 1, at::kCPU);
  BatchedNetwork without(bare, *bare_shape, 1, at::kCPU);
  with.load(weights);
  without.load(weights);
  const at::Tensor pictures = at::randn({1, 8, 1, 12, 12});
  const at::Tensor evaluated = with.forward(pictures);
  EXPECT_TRUE(evaluated.equal(without.forward(pictures)));
  const std::vector<LocalTask> tasks = {task_of(1)};
  Dropout dropout(*shape, tasks, at::kCPU);
  EXPECT_FALSE(evaluated.equal(with.forward(pictures, &dropout)));
}

}  // namespace
}  // namespace ebb::fl
