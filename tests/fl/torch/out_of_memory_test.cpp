// SPDX-License-Identifier: Apache-2.0
// A card that is full for a while, or for good: here the host plays it, with the real arithmetic.
#include "fl/card_patience.h"
#include "fl/fake_card.h"
#include "fl/torch/failures.h"
#include "fl/torch/workbench.h"

namespace ebb::fl {
namespace {

/// Trains clients together as a card does, and has no room now and then.
class FullNowAndThen final : public Trainer {
 public:
  explicit FullNowAndThen(std::unique_ptr<Trainer> own) : own_(std::move(own)) {}

  int failures = 0;                   ///< so many attempts fail
  bool fails_later = false;           ///< each when all have trained,
  std::size_t fetches = 0;            ///< and so many models were fetched, and no sum made
  std::size_t fetched = 0;            ///< models, in all
  std::size_t most = 1000;            ///< larger groups never fit
  std::vector<std::size_t> groups;    ///< that were tried
  std::uint32_t fails_in_round = 1;   ///< where `failures` begin
  std::size_t evaluated = 1024;       ///< samples at a time; more than
  std::size_t most_evaluated = 1024;  ///< these never fit

  std::uint64_t parameters() const override { return own_->parameters(); }
  const std::string& backend() const override { return own_->backend(); }
  void initialise(std::uint64_t seed, std::span<float> weights) override {
    own_->initialise(seed, weights);
  }
  base::Result<LocalResult> train(std::uint32_t slot, std::span<const float> global,
                                  const LocalTask& task, std::span<float> weights) override {
    return own_->train(slot, global, task, weights);
  }
  base::Result<Evaluation> evaluate(std::uint32_t slot, std::span<const float> weights,
                                    const Split& split,
                                    std::span<const std::uint32_t> samples) override {
    if (evaluated > most_evaluated) return no_room();
    return own_->evaluate(slot, weights, split, samples);
  }
  bool evaluates_at_once() const override { return true; }
  std::size_t evaluate_fewer() override { return evaluated > 32 ? evaluated /= 2 : 0; }
  std::uint32_t together() const override { return 4; }
  base::Status train_together(std::span<const float> global, std::span<const LocalTask> tasks,
                              const Trained& trained) override {
    groups.push_back(tasks.size());
    const bool is_due = tasks.front().round >= fails_in_round;
    const bool fails = is_due && (tasks.size() > most || failures > 0);
    if (is_due && tasks.size() <= most && failures > 0) --failures;
    if (fails && !fails_later) return no_room();
    return own_->train_together(global, tasks,
                                [&](std::span<const LocalResult> results, UpdateGroup& updates) {
                                  Counted counted(updates, *this, fails);
                                  return trained(results, counted);
                                });
  }
  void release(std::uint32_t first) override { own_->release(first); }

 private:
  /// Updates that come to the host only so far.
  class Counted final : public UpdateGroup {
   public:
    Counted(UpdateGroup& own, FullNowAndThen& trainer, bool fails)
        : own_(own), trainer_(trainer), fails_(fails), left_(trainer.fetches) {}

    std::size_t size() const override { return own_.size(); }
    double norm(std::size_t place) const override { return own_.norm(place); }
    double largest_move(std::size_t place) const override { return own_.largest_move(place); }
    base::Result<std::span<const float>> fetch(std::size_t place) override {
      if (fails_ && left_ == 0) return no_room();
      if (fails_) --left_;
      ++trainer_.fetched;
      return own_.fetch(place);
    }
    base::Result<std::unique_ptr<SumsThere>> sum_up(std::span<const double> scales) override {
      if (fails_ && left_ == 0) return no_room();
      return own_.sum_up(scales);
    }

   private:
    UpdateGroup& own_;
    FullNowAndThen& trainer_;
    const bool fails_;
    std::size_t left_;
  };

  static base::Error no_room() {
    return base::error(base::Code::out_of_memory, "CUDA out of memory");
  }

  const std::unique_ptr<Trainer> own_;
};

class OutOfMemory : public Workbench {
 protected:
  /// What a simulation comes to whose trainer is prepared by `prepare`.
  base::Result<SimulationResult> run_with(const std::function<void(FullNowAndThen&)>& prepare) {
    auto resources = load_resources(config_, on_threads(1), cleaner_, alone());
    EXPECT_TRUE(resources);
    auto trainer = std::make_unique<FullNowAndThen>(std::move(resources->trainer));
    prepare(*trainer);
    trainer_ = trainer.get();
    auto card = std::make_unique<FakeCard>();
    card_ = card.get();
    resources->trainer = std::move(trainer);
    resources->card = std::move(card);
    Listener listener(*this);
    auto result = simulate(config_, on_threads(1), *resources, listener);
    groups_ = trainer_->groups;
    fetched_ = trainer_->fetched;
    waited_ = card_->waited;
    return result;
  }

  SimulationResult undisturbed() {
    return *run_with([](FullNowAndThen&) {});
  }

  class Listener final : public Observer {
   public:
    explicit Listener(OutOfMemory& test) : test_(test) {}
    void warned(const std::string& line) override { test_.lines_ += line + "\n"; }

   private:
    OutOfMemory& test_;
  };

  FullNowAndThen* trainer_ = nullptr;
  FakeCard* card_ = nullptr;
  const Config original_ = config_;
  std::vector<std::size_t> groups_;
  std::size_t fetched_ = 0;
  double waited_ = 0;
  std::string lines_;
};

TEST_F(OutOfMemory, ForAWhileChangesNoBit) {
  const std::string sha = undisturbed().model_sha256;
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.failures = 3; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->model_sha256, sha);
  EXPECT_FALSE(result->rounding_from);
  EXPECT_EQ(groups_, (std::vector<std::size_t>{4, 4, 4, 4, 4, 4})) << "the same group each time";
  EXPECT_GT(waited_, 0);
  EXPECT_NE(lines_.find("round 1: GPU 0 had no room"), std::string::npos) << lines_;
}

TEST_F(OutOfMemory, WhereUpdatesAreAddedUpAddsNoneOfThem) {
  const std::string sha = undisturbed().model_sha256;
  const auto result = run_with([](FullNowAndThen& trainer) {
    trainer.failures = 2;
    trainer.fails_later = true;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->model_sha256, sha);
  EXPECT_EQ(fetched_, 0U) << "sums alone come to the host";
}

TEST_F(OutOfMemory, HalfWayAddsNoClientTwice) {
  const auto change = [&](std::size_t fetches, auto&& how) {
    const auto halfway = [&](FullNowAndThen& trainer) {
      trainer.failures = 2;
      trainer.fails_later = true;
      trainer.fetches = fetches;
    };
    config_ = Config(original_);
    how();
    const std::string sha = undisturbed().model_sha256;
    const std::size_t tries = groups_.size();
    const auto result = run_with(halfway);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->model_sha256, sha);
    EXPECT_GT(fetched_, 0U) << "a rule that needs all updates";
    EXPECT_GT(groups_.size(), tries) << "an attempt failed";
  };
  change(2, [&] { config_.aggregation.rule = Rule::median; });
  change(0, [&] {
    config_.world.deadline = 0.02;
    config_.world.staleness = 2;
    config_.rounds = 4;
  });
}

TEST_F(OutOfMemory, ForGoodHasSmallerGroupsAndSaysSo) {
  const SimulationResult whole = undisturbed();
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most = 1; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->rounding_from, 1U);
  EXPECT_EQ(groups_.back(), 1U);
  EXPECT_GE(waited_, CardPatience::kSeconds);
  EXPECT_LT(waited_, 2 * CardPatience::kSeconds) << "halves are tried at once";
  EXPECT_NE(lines_.find("to rounding only"), std::string::npos) << lines_;
  EXPECT_EQ(result->rounds.size(), whole.rounds.size());
  EXPECT_NEAR(result->rounds.back().scores->loss, whole.rounds.back().scores->loss, 1e-3);
  EXPECT_EQ(to_json(*result).find("rounding_from_round")->as_unsigned(), 1U);
}

TEST_F(OutOfMemory, InEvaluationTakesFewerAtATimeAndSaysSo) {
  const std::string sha = undisturbed().model_sha256;
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most_evaluated = 100; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->model_sha256, sha) << "nobody is chosen by what was evaluated here";
  EXPECT_EQ(result->rounding_from, 0U) << "the model that all begin with";
  EXPECT_GE(waited_, CardPatience::kSeconds);
  EXPECT_LT(waited_, 2 * CardPatience::kSeconds) << "halves are tried at once";
  EXPECT_NE(lines_.find("64 samples at a time from now on"), std::string::npos) << lines_;
}

TEST_F(OutOfMemory, WithoutRoomToEvaluateIsAnError) {
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most_evaluated = 0; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::out_of_memory);
}

TEST_F(OutOfMemory, WithoutRoomForOneClientIsAnError) {
  const auto result = run_with([](FullNowAndThen& trainer) { trainer.most = 0; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::out_of_memory);
}

TEST(Failures, TellWantOfMemoryFromTheRest) {
  EXPECT_EQ(error_of(std::bad_alloc()).code, base::Code::out_of_memory);
  for (const char* text :
       {"CUDA error: out of memory\nmore", "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"})
    EXPECT_EQ(error_of(std::runtime_error(text)).code, base::Code::out_of_memory) << text;
  const base::Error other = error_of(std::runtime_error("shapes differ\n  at layer 3"));
  EXPECT_EQ(other.code, base::Code::internal);
  EXPECT_EQ(other.message, "shapes differ");
  const base::Error wordy = error_of(std::runtime_error(
      "CUDA out of memory. Tried to allocate 18.00 MiB. GPU 0 has a total capacity of 139.80 GiB "
      "of which "
      "5.56 MiB is free. Including non-PyTorch memory, this process has 1.01 GiB memory in use."));
  EXPECT_EQ(
      wordy.message,
      "CUDA out of memory. Tried to allocate 18.00 MiB. GPU 0 has a total capacity of 139.80 GiB "
      "of which 5.56 MiB is free.");
}

}  // namespace
}  // namespace ebb::fl
