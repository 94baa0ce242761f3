// SPDX-License-Identifier: Apache-2.0
// Clients of different sizes side by side, against the same clients one by one.
#include "fl/torch/torch_trainer.h"

#include <numeric>

#include "fl/torch/nearness.h"

namespace ebb::fl {
namespace {

class TorchTrainerTest : public testing::Test {
 protected:
  TorchTrainerTest() {
    SyntheticOptions options;
    options.picture = {1, 16, 16};
    options.train = 200;
    options.test = 10;
    auto data = synthetic_data_set(options);
    EXPECT_TRUE(data) << data.error().message;
    const auto network = plan::network_named("CNN-MNIST", options.picture, 10);
    auto trainer = TorchTrainer::create(*network, *data, "native", 3);
    EXPECT_TRUE(trainer) << trainer.error().message;
    trainer_ = std::move(*trainer);
    global_.resize(trainer_->parameters());
    trainer_->initialise(1, global_);
    order_.resize(200);
    std::iota(order_.begin(), order_.end(), 0U);
    std::size_t first = 0;
    for (const std::size_t count : {80U, 50U, 14U}) {
      LocalTask task;
      task.client = static_cast<std::uint32_t>(tasks_.size());
      task.order = std::span(order_).subspan(first, count);
      task.epochs = 2;
      task.batch = 16;
      tasks_.push_back(task);
      first += count;
    }
  }

  std::unique_ptr<TorchTrainer> trainer_;
  std::vector<float> global_;
  std::vector<std::uint32_t> order_;
  std::vector<LocalTask> tasks_;
};

TEST_F(TorchTrainerTest, TrainsSideBySideAsOneByOne) {
  std::size_t next = 0;
  const auto done = trainer_->train_together(
      global_, tasks_,
      [&](std::size_t place, const LocalResult& result, std::span<const float> weights) {
        EXPECT_EQ(place, next++);
        std::vector<float> alone(global_.size());
        const auto own = trainer_->train(0, global_, tasks_[place], alone);
        EXPECT_TRUE(own);
        EXPECT_LT(apart(global_, alone, weights), kRounding) << place;
        EXPECT_EQ(result.steps, own->steps);
        EXPECT_NEAR(result.loss, own->loss, 1e-4);
        EXPECT_NEAR(result.last_loss, own->last_loss, 1e-4);
        EXPECT_NEAR(result.loss_rms, own->loss_rms, 1e-4);
        return base::Status();
      });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(next, 3U);
}

TEST_F(TorchTrainerTest, StopsWhereAModelIsNotTaken) {
  int calls = 0;
  const auto done = trainer_->train_together(
      global_, tasks_,
      [&](std::size_t, const LocalResult&, std::span<const float>) -> base::Status {
        if (++calls < 2) return {};
        return base::error(base::Code::io, "no room");
      });
  EXPECT_EQ(calls, 2);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no room");
}

TEST_F(TorchTrainerTest, SaysWhoDiverged) {
  for (LocalTask& task : tasks_)
    task.lr = 1e30;
  const auto done = trainer_->train_together(
      global_, tasks_, [](std::size_t, const LocalResult&, std::span<const float>) {
        ADD_FAILURE() << "handed over";
        return base::Status();
      });
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("client 0 diverged in round 0"), std::string::npos)
      << done.error().message;
  std::vector<float> weights(global_.size(), 7);
  const auto alone = trainer_->train(0, global_, tasks_[1], weights);
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("client 1 diverged"), std::string::npos);
  EXPECT_EQ(weights.front(), 7) << "nothing is written then";
}

}  // namespace
}  // namespace ebb::fl
