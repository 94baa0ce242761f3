// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fl/fake_card.h"
#include "fl/torch/workbench.h"

namespace ebb::fl {

/// Trains clients together as a card does, and has no room now and then.
class FullNowAndThen final : public Trainer {
 public:
  explicit FullNowAndThen(std::unique_ptr<Trainer> own) : own_(std::move(own)) {}

  int failures = 0;                   ///< so many attempts fail
  bool fails_later = false;           ///< each when all have trained,
  bool fails_learning = false;        ///< not before the first control variate was learned
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
  std::string kernels() const override { return "libtorch"; }
  bool evaluates_at_once() const override { return true; }
  std::size_t evaluated_together() const override { return evaluated; }
  void evaluate_together(std::size_t samples) override { evaluated = samples; }
  std::size_t evaluate_fewer() override { return evaluated > 32 ? evaluated /= 2 : 0; }
  std::uint32_t together() const override { return 4; }
  base::Status train_together(std::span<const float> global, std::span<const LocalTask> tasks,
                              const Trained& trained, Corrections* corrections) override {
    groups.push_back(tasks.size());
    const bool is_due = tasks.front().round >= fails_in_round;
    const bool fails = is_due && (tasks.size() > most || failures > 0);
    if (is_due && tasks.size() <= most && failures > 0) --failures;
    if (fails && !fails_later) return no_room();
    const auto counting = [&](std::span<const LocalResult> results, UpdateGroup& updates) {
      Counted counted(updates, *this, fails && !fails_learning);
      return trained(results, counted);
    };
    if (corrections == nullptr) return own_->train_together(global, tasks, counting, nullptr);
    Learning learning(*corrections, fails && fails_learning);
    return own_->train_together(global, tasks, counting, &learning);
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
    base::Result<std::vector<float>> sketch(std::size_t place) override {
      return own_.sketch(place);
    }
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

  /// Control variates of which one is learned at the most.
  class Learning final : public Corrections {
   public:
    Learning(Corrections& own, bool fails) : own_(own), fails_(fails) {}

    std::size_t size() const override { return own_.size(); }
    void read(std::size_t place, std::span<float> into) override { own_.read(place, into); }
    base::Status learn(std::size_t first, std::span<const float> gradients) override {
      if (!fails_) return own_.learn(first, gradients);
      const auto learned = own_.learn(first, gradients.first(gradients.size() / kLearnedTogether));
      return learned ? base::Status(no_room()) : learned;
    }

   private:
    Corrections& own_;
    const bool fails_;
  };

  static base::Error no_room() {
    return base::error(base::Code::out_of_memory, "CUDA out of memory");
  }

  const std::unique_ptr<Trainer> own_;
};

/// Simulations whose card is played by the host.
class FullCard : public Workbench {
 protected:
  /// What a simulation comes to whose trainer is prepared by `prepare`.
  base::Result<SimulationResult> run_with(const std::function<void(FullNowAndThen&)>& prepare) {
    Listener listener(*this);
    return run_with(prepare, on_threads(1), listener);
  }
  base::Result<SimulationResult> run_with(const std::function<void(FullNowAndThen&)>& prepare,
                                          const Execution& execution, Observer& observer) {
    auto resources = load_resources(config_, execution, cleaner_, alone());
    EXPECT_TRUE(resources);
    resources->card_use.room = room_;
    resources->warning = warning_;
    auto trainer = std::make_unique<FullNowAndThen>(std::move(resources->trainer));
    prepare(*trainer);
    trainer_ = trainer.get();
    auto card = std::make_unique<FakeCard>();
    card_ = card.get();
    resources->trainer = std::move(trainer);
    resources->card = std::move(card);
    auto result = simulate(config_, execution, *resources, observer);
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
    explicit Listener(FullCard& test, std::uint32_t rounds = 1000) : test_(test), rounds_(rounds) {}
    void warned(const std::string& line) override { test_.lines_ += line + "\n"; }
    void round_done(const RoundReport&) override { --rounds_; }
    bool should_stop() override { return rounds_ == 0; }

   private:
    FullCard& test_;
    std::uint32_t rounds_;
  };

  FullNowAndThen* trainer_ = nullptr;
  FakeCard* card_ = nullptr;
  const Config original_ = config_;
  std::vector<std::size_t> groups_;
  std::size_t fetched_ = 0;
  double waited_ = 0;
  std::string lines_;
  std::uint32_t room_ = 1000;  ///< clients that would fit
  std::string warning_;
};

}  // namespace ebb::fl
