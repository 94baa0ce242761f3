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
    data_ = *data;
    train("CNN-MNIST");
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

  void train(const char* model) {
    const auto network = plan::network_named(model, data_->picture, 10);
    auto trainer = TorchTrainer::create(*network, data_, Backend::native, {.clients = 3});
    EXPECT_TRUE(trainer) << trainer.error().message;
    trainer_ = std::move(*trainer);
    global_.resize(trainer_->parameters());
    trainer_->initialise(1, global_);
  }

  void expect_the_same_side_by_side();

  std::shared_ptr<const DataSet> data_;
  std::unique_ptr<TorchTrainer> trainer_;
  std::vector<float> global_;
  std::vector<std::uint32_t> order_;
  std::vector<LocalTask> tasks_;
};

void TorchTrainerTest::expect_the_same_side_by_side() {
  const auto done = trainer_->train_together(
      global_, tasks_,
      [&](std::span<const LocalResult> results, UpdateGroup& updates) {
        EXPECT_EQ(results.size(), tasks_.size());
        EXPECT_EQ(updates.size(), tasks_.size());
        for (std::size_t place = 0; place < updates.size(); ++place) {
          std::vector<float> alone(global_.size());
          const auto own = trainer_->train(0, global_, tasks_[place], alone);
          EXPECT_TRUE(own);
          const auto weights = updates.fetch(place);
          EXPECT_TRUE(weights);
          EXPECT_LT(apart(global_, alone, *weights), kRounding) << place;
          EXPECT_NEAR(updates.norm(place) / distance(global_, *weights), 1, 1e-9);
          EXPECT_EQ(results[place].steps, own->steps);
          EXPECT_NEAR(results[place].loss, own->loss, 1e-4);
          EXPECT_NEAR(results[place].last_loss, own->last_loss, 1e-4);
          EXPECT_NEAR(results[place].loss_rms, own->loss_rms, 1e-4);
        }
        return base::Status();
      },
      nullptr);
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(TorchTrainerTest, TrainsSideBySideAsOneByOne) {
  expect_the_same_side_by_side();
}

TEST_F(TorchTrainerTest, PullsThoseAloneWhoStillTrain) {
  // Strongly, and some have more steps than others.
  for (LocalTask& task : tasks_) {
    task.lr = 0.1;
    task.proximal = 2;
  }
  expect_the_same_side_by_side();
}

TEST_F(TorchTrainerTest, TrainsSideBySideWithTheMasksThatEachHasAlone) {
  train("CNN-Dropout");
  expect_the_same_side_by_side();
}

TEST_F(TorchTrainerTest, StopsAfterSoManySteps) {
  // 40 samples an epoch: batches of 16, 16 and 8.
  tasks_.resize(1);
  const auto alone = [&](std::uint64_t steps) {
    tasks_[0].steps = steps;
    std::vector<float> weights(global_.size());
    const auto done = trainer_->train(0, global_, tasks_[0], weights);
    EXPECT_TRUE(done);
    EXPECT_EQ(done ? done->steps : 0, steps == 0 ? 6U : steps);
    return weights;
  };
  EXPECT_EQ(alone(0), alone(6));
  EXPECT_NE(alone(5), alone(6));
  expect_the_same_side_by_side();
  tasks_[0].steps = 2;
  tasks_[0].epochs = 1;
  tasks_[0].order = std::span(order_).first(40);
  const std::vector<float> two_of_one_epoch = alone(2);
  tasks_[0].epochs = 2;
  tasks_[0].order = std::span(order_).first(80);
  EXPECT_EQ(alone(2), two_of_one_epoch);
}

/// Corrections that are large, and what is learned beside them.
class SomeCorrections final : public Corrections {
 public:
  SomeCorrections(std::size_t clients, std::size_t elements) : learned(clients) {
    Random random(3, Purpose::initial_weights);
    for (std::size_t client = 0; client < clients; ++client)
      for (std::size_t i = 0; i < elements; ++i)
        values.push_back(static_cast<float>(0.02 * random.normal()));
  }

  std::span<const float> of(std::size_t place) const {
    const std::size_t elements = values.size() / learned.size();
    return std::span(values).subspan(place * elements, elements);
  }
  std::size_t size() const override { return learned.size(); }
  void read(std::size_t place, std::span<float> into) override {
    std::copy(of(place).begin(), of(place).end(), into.begin());
  }
  base::Status learn(std::size_t first, std::span<const float> gradients) override {
    const std::size_t elements = values.size() / learned.size();
    for (; !gradients.empty(); gradients = gradients.subspan(elements))
      learned[first++].assign(gradients.begin(),
                              gradients.begin() + static_cast<std::ptrdiff_t>(elements));
    return {};
  }

  std::vector<float> values;
  std::vector<std::vector<float>> learned;
};

TEST_F(TorchTrainerTest, CorrectsStepsAndFindsGradientsSideBySideAsOneByOne) {
  for (const char* model : {"CNN-MNIST", "CNN-Dropout"}) {
    SCOPED_TRACE(model);
    train(model);
    SomeCorrections corrections(tasks_.size(), global_.size());
    // One more repeats the first, to fill the group up.
    std::vector<LocalTask> tasks = tasks_;
    tasks.push_back(tasks.front());
    std::vector<std::vector<float>> trained;
    const auto keep = [&](std::span<const LocalResult>, UpdateGroup& updates) {
      for (std::size_t place = 0; place < updates.size(); ++place) {
        const auto weights = updates.fetch(place);
        trained.emplace_back(weights->begin(), weights->end());
        EXPECT_TRUE(place == 3 || corrections.learned[place].empty()) << "learned afterwards";
      }
      return base::Status();
    };
    ASSERT_TRUE(trainer_->train_together(global_, tasks, keep, &corrections));
    EXPECT_EQ(trained[3], trained[0]);
    const std::vector<float> zeros(global_.size());
    for (std::size_t place = 0; place < tasks_.size(); ++place) {
      LocalTask task = tasks_[place];
      task.correction = corrections.of(place);
      std::vector<float> alone(global_.size());
      ASSERT_TRUE(trainer_->train(0, global_, task, alone));
      EXPECT_LT(apart(global_, alone, trained[place]), kRounding) << place;
      std::vector<float> gradient(global_.size());
      ASSERT_TRUE(trainer_->gradient(0, global_, task, gradient));
      EXPECT_LT(apart(zeros, gradient, corrections.learned[place]), kRounding) << place;
    }
  }
}

TEST_F(TorchTrainerTest, HandsOnWhyUpdatesAreNotTaken) {
  const auto done = trainer_->train_together(
      global_, tasks_,
      [&](std::span<const LocalResult>, UpdateGroup&) -> base::Status {
        return base::error(base::Code::io, "no room");
      },
      nullptr);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no room");
}

TEST_F(TorchTrainerTest, TrainsTheSameWhetherTheDeviceHoldsTheData) {
  const auto network = plan::network_named("CNN-MNIST", data_->picture, 10);
  auto other = TorchTrainer::create(*network, data_, Backend::native, {.holds_data = false});
  ASSERT_TRUE(other);
  std::vector<float> held;
  const auto keep = [&](std::span<const LocalResult>, UpdateGroup& updates) {
    const auto weights = updates.fetch(1);
    held.insert(held.end(), weights->begin(), weights->end());
    return base::Status();
  };
  ASSERT_TRUE(trainer_->train_together(global_, tasks_, keep, nullptr));
  ASSERT_TRUE((*other)->train_together(global_, tasks_, keep, nullptr));
  EXPECT_TRUE(std::equal(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(global_.size()),
                         held.begin() + static_cast<std::ptrdiff_t>(global_.size())));
}

TEST_F(TorchTrainerTest, EvaluatesInAnyBatchesWhatItDoesOneByOne) {
  const auto network = plan::network_named("CNN-MNIST", data_->picture, 10);
  const auto shape = shape_of(*network);
  const auto one_by_one = trainer_->evaluate(0, global_, data_->train, order_);
  ASSERT_TRUE(one_by_one);
  for (const std::uint32_t at_a_time : {16U, 96U, 1024U}) {
    for (const bool held : {true, false}) {
      const SideBySide together(*network, *shape, *data_, at::kCPU,
                                {.evaluated = at_a_time, .holds_data = held});
      const Evaluation found = together.evaluate(global_, data_->train, order_);
      EXPECT_EQ(found.samples, one_by_one->samples);
      EXPECT_EQ(found.confusion, one_by_one->confusion) << at_a_time;
      EXPECT_NEAR(found.loss_sum, one_by_one->loss_sum, 1e-3);
    }
  }
}

TEST_F(TorchTrainerTest, SaysWhoDiverged) {
  for (LocalTask& task : tasks_)
    task.lr = 1e30;
  const auto done = trainer_->train_together(
      global_, tasks_,
      [](std::span<const LocalResult>, UpdateGroup&) {
        ADD_FAILURE() << "handed over";
        return base::Status();
      },
      nullptr);
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
