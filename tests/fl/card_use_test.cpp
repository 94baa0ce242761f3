// SPDX-License-Identifier: Apache-2.0
#include "fl/card_use.h"

namespace ebb::fl {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

class CardUseTest : public testing::Test {
 protected:
  CardUseTest() {
    data_.picture = {1, 28, 28};
    data_.classes = 10;
    data_.train.pixels.resize(40 * kMiB);
    network_ = *plan::network_named("CNN-MNIST", data_.picture, data_.classes);
  }

  static std::uint64_t planned(const CardUse& use) {
    MemoryPlan plan;
    plan.items = use.items;
    plan.parallel_clients = use.clients;
    return plan.card_total();
  }
  static std::uint64_t item(const CardUse& use, const std::string& purpose) {
    for (const MemoryItem& one : use.items)
      if (one.purpose == purpose) return one.bytes;
    ADD_FAILURE() << purpose;
    return 0;
  }

  DataSet data_;
  plan::Network network_;
};

TEST_F(CardUseTest, OfALargeOneIsWhatWasWanted) {
  const auto use = card_use(network_, 32, 50, data_, 100000 * kMiB);
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_EQ(use->clients, 50U);
  EXPECT_EQ(use->evaluated, 1600U) << "as many pictures as train";
  EXPECT_TRUE(use->holds_data);
  EXPECT_EQ(item(*use, "data set"), data_.bytes());
  EXPECT_EQ(item(*use, "training of a client"), *side_by_side_bytes(network_, 32));
  EXPECT_EQ(item(*use, "sums"), 21840U * 8);
  EXPECT_EQ(item(*use, "adding up a client"), 21840U * kBytesOfAParameter);
}

TEST_F(CardUseTest, HasRoomForTheLargestMaskWhileItIsMade) {
  network_ = *plan::network_named("CNN-Dropout", data_.picture, data_.classes);
  plan::Network without = network_;
  std::erase_if(without.layers, [](const plan::NetworkLayer& layer) {
    return layer.kind == plan::NetworkLayer::Kind::dropout;
  });
  // What is made for one of 64 x 12 x 12 values, beyond what a step itself has of it.
  const auto beyond = [&](const plan::Network& network) {
    return *side_by_side_bytes(network, 32) - *step_bytes(network, 32);
  };
  EXPECT_EQ(beyond(network_) - beyond(without), 32U * 64 * 12 * 12 * kBytesOfAMaskInTheMaking);
}

TEST_F(CardUseTest, HasRoomForWhatCorrectsAndSketches) {
  const auto plain = card_use(network_, 32, 50, data_, 100000 * kMiB);
  const auto more =
      card_use(network_, 32, 50, data_, 100000 * kMiB, {.corrects = true, .sketches = true});
  ASSERT_TRUE(plain && more);
  EXPECT_EQ(item(*plain, "correction of a client"), 0U);
  EXPECT_EQ(item(*more, "correction of a client"), 21840U * 4);
  EXPECT_EQ(item(*more, "sketch of a client"), 320U * 50 * 4) << "its largest tensor";
  EXPECT_EQ(item(*more, "projection of updates"), kProjectionBytes);
  EXPECT_EQ(item(*more, "sums"), item(*plain, "sums"));
  EXPECT_EQ(planned(*more) - planned(*plain), 50 * (21840U * 4 + 320U * 50 * 4) + kProjectionBytes);
  EXPECT_LT(more->room, plain->room);
}

TEST_F(CardUseTest, FitsWhateverThereIs) {
  bool gathers = false;
  for (std::uint64_t available = 40 * kMiB; available < 2000 * kMiB; available += 13 * kMiB) {
    const auto use = card_use(network_, 32, 50, data_, available);
    ASSERT_TRUE(use) << use.error().message;
    EXPECT_LE(planned(*use), available);
    EXPECT_TRUE(use->clients >= 1 && use->clients <= 50);
    EXPECT_GE(use->evaluated, 32U);
    gathers = gathers || !use->holds_data;
    EXPECT_EQ(item(*use, "data set"), use->holds_data ? data_.bytes() : 0);
  }
  EXPECT_TRUE(gathers) << "where data would leave no room for clients";
}

TEST_F(CardUseTest, HasRoomForBatchesOnTheirWayWhereItDoesNotHoldTheData) {
  const auto held = card_use(network_, 32, 50, data_, 100000 * kMiB);
  const auto use = card_use(network_, 32, 50, data_, 100000 * kMiB, {.may_hold_data = false});
  ASSERT_TRUE(held && use);
  EXPECT_EQ(held->ahead, 0U);
  EXPECT_EQ(held->pinned, 0U);
  EXPECT_EQ(item(*held, "batches of a client on their way"), 0U);
  EXPECT_FALSE(use->holds_data);
  EXPECT_EQ(use->ahead, kBatchesAhead);
  EXPECT_EQ(item(*use, "data set"), 0U);
  EXPECT_EQ(item(*use, "batches of a client on their way"), 4U * 32 * (28 * 28 + 1));
  EXPECT_EQ(planned(*held) - planned(*use), data_.bytes() - 4 * 50 * 32 * (28 * 28 + 1));
  // On the host twice 4 x 1600 x 785 bytes, for training and for evaluation, each in 8 MiB.
  EXPECT_EQ(use->evaluated, 1600U);
  EXPECT_EQ(use->pinned, 16 * kMiB);
  // What is evaluated has batches on their way, too: more than those of one client.
  const auto one = card_use(network_, 32, 1, data_, 100000 * kMiB, {.may_hold_data = false});
  const auto without = card_use(network_, 32, 1, data_, 100000 * kMiB,
                                {.may_hold_data = false, .may_prefetch = false});
  ASSERT_TRUE(one && without);
  EXPECT_EQ(without->ahead, 0U);
  EXPECT_EQ(without->pinned, 0U);
  EXPECT_EQ(planned(*one) - planned(*without), 4U * 1024 * (28 * 28 + 1));
}

TEST_F(CardUseTest, PrefetchesWhereThereIsNoRoomForTheDataAndSomeForBatches) {
  const auto whole = card_use(network_, 32, 1, data_, 100000 * kMiB);
  ASSERT_TRUE(whole);
  const std::uint64_t least = item(*whole, "training of a client") +
                              item(*whole, "adding up a client") + item(*whole, "sums");
  const std::uint64_t batches = 4U * 32 * (28 * 28 + 1);
  EXPECT_EQ(card_use(network_, 32, 1, data_, least + batches)->ahead, kBatchesAhead);
  const auto tight = card_use(network_, 32, 1, data_, least + batches - 1);
  ASSERT_TRUE(tight) << tight.error().message;
  EXPECT_EQ(tight->ahead, 0U);
  EXPECT_FALSE(tight->holds_data);
}

TEST_F(CardUseTest, HasGroupsOfTheSameSizeWhereNotAllFit) {
  const auto whole = card_use(network_, 32, 50, data_, 100000 * kMiB);
  ASSERT_TRUE(whole);
  const std::uint64_t each =
      item(*whole, "training of a client") + item(*whole, "adding up a client");
  const auto use = card_use(network_, 32, 50, data_, data_.bytes() + 21840 * 8 + 35 * each);
  ASSERT_TRUE(use) << use.error().message;
  ASSERT_TRUE(use->holds_data);
  EXPECT_EQ(use->room, 35U);
  EXPECT_EQ(use->clients, 25U) << "not 35 and then 15";
  EXPECT_GT(whole->room, 50U);
}

TEST_F(CardUseTest, OfOneClientEvaluatesAsManyPicturesAsFillACard) {
  const auto use = card_use(network_, 32, 1, data_, 100000 * kMiB);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->evaluated, 1024U);
  EXPECT_GT(item(*use, "evaluation beyond training"), 0U);
}

TEST_F(CardUseTest, IsRefusedWithTheNumberWhereNotEvenOneFits) {
  const auto use = card_use(network_, 32, 50, data_, kMiB);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, base::Code::bad_input);
  EXPECT_NE(use.error().message.find("1.0 MiB"), std::string::npos) << use.error().message;
  EXPECT_NE(use.error().message.find("one client needs"), std::string::npos);
}

}  // namespace
}  // namespace ebb::fl
