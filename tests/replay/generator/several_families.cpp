// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "replay/generator/families.h"
#include "replay/generator/trainer.h"

namespace ebb::replay::generator {
namespace {

Trainer trainer_of(Tape& tape, Draws& draws, Net net, bool library = true) {
  TrainerOptions options = TrainerOptions::draw(draws);
  options.library = library;
  return {tape, draws, std::move(net), options};
}

/// Reinforcement learning: what is seen and done is collected, then two models learn from it.
class ActorCritic {
 public:
  ActorCritic(Tape& tape, Draws& draws)
      : tape_(tape),
        draws_(draws),
        texts_(draws.one_in(2)),
        longest_(texts_ ? draws.pick<std::uint64_t>({128, 256, 512}) : 1),
        batch_(texts_ ? draws.between(2, 8) : draws.pick<std::uint64_t>({256, 1024, 2000})),
        rollouts_(draws.between(1, 3)),
        epochs_(texts_ ? 1 : draws.between(1, 2)),
        actor_(trainer_of(tape, draws, model())),
        critic_(trainer_of(tape, draws, model(), false)) {
    actor_.load();
    critic_.load();
  }

  void step() {
    const std::uint64_t length = texts_ ? draws_.between(longest_ / 4, longest_) : 1;
    std::vector<Tape::Block> buffer;
    for (std::uint64_t i = 0; i < rollouts_; ++i) {
      const Tape::Block output = actor_.infer(batch_, length);
      buffer.push_back(tape_.take(batch_ * length * 8));  // what was done, and how likely it was
      buffer.push_back(tape_.take(actor_.net().input(batch_, length)));
      tape_.give(output);
    }
    const Tape::Block joined = tape_.take(rollouts_ * actor_.net().input(batch_, length));
    for (std::uint64_t i = 0; i < epochs_; ++i) {
      actor_.step(batch_, length);
    }
    const std::uint64_t more = batch_ * draws_.between(1, 2);
    for (std::uint64_t i = 0; i < epochs_; ++i) {
      critic_.step(more, length);
    }
    tape_.give(joined);
    tape_.give(buffer);
  }

 private:
  Net model() {
    if (texts_) {
      const auto hidden = draws_.pick<std::uint64_t>({128, 256, 512});
      const auto vocabulary = draws_.pick<std::uint64_t>({256, 8192});
      return transformer(draws_, 1, hidden, vocabulary, draws_.one_in(3));
    }
    const auto width = draws_.pick<std::uint64_t>({256, 512, 1024, 2048});
    return perceptron({draws_.between(64, 1024), width, width, 32});
  }

  Tape& tape_;
  Draws& draws_;
  const bool texts_;
  const std::uint64_t longest_;
  const std::uint64_t batch_;
  const std::uint64_t rollouts_;
  const std::uint64_t epochs_;
  Trainer actor_;
  Trainer critic_;
};

/// Batches come on a copying stream while the step before them runs.
class Prefetching {
 public:
  Prefetching(Tape& tape, Draws& draws)
      : tape_(tape),
        draws_(draws),
        images_(draws.one_in(2)),
        largest_(images_ ? draws.between(8, 32) : draws.pick<std::uint64_t>({512, 1024, 2048})),
        side_(images_ ? draws.pick<std::uint64_t>({64, 96, 128}) : 1),
        varying_(draws.chance(60)),
        depth_(draws.between(1, 3)),
        trainer_(trainer_of(tape, draws, model())) {
    trainer_.load();
  }

  void step() {
    while (ready_.size() < depth_) {
      fetch();
    }
    const auto [input, batch] = ready_.front();
    ready_.pop_front();
    fetch();
    trainer_.forward(batch, side_, false);
    trainer_.backward();
    // By now the device is done with what was given back a step ago.
    for (const Tape::Block block : used_) {
      tape_.complete(block);
    }
    used_.clear();
    tape_.give_later(input);
    used_.push_back(input);
    trainer_.update();
    trainer_.zero_grad();
  }

 private:
  struct Batch {
    Tape::Block block = 0;
    std::uint64_t size = 0;
  };

  void fetch() {
    const std::uint64_t size = varying_ ? draws_.between(largest_ / 8 + 1, largest_) : largest_;
    ready_.push_back({tape_.take(trainer_.net().input(size, side_), 1), size});
  }
  Net model() {
    if (images_) {
      const auto channels = draws_.pick<std::uint64_t>({16, 32});
      return convolutions(draws_, draws_.between(3, 5), channels);
    }
    const auto width = draws_.pick<std::uint64_t>({1024, 2048, 4096});
    return perceptron({2048, width, draws_.pick<std::uint64_t>({1024, 2048}), width, 512});
  }

  Tape& tape_;
  Draws& draws_;
  const bool images_;
  const std::uint64_t largest_;
  const std::uint64_t side_;
  const bool varying_;
  const std::size_t depth_;
  Trainer trainer_;
  std::deque<Batch> ready_;
  std::vector<Tape::Block> used_;
};

/// Clients one after the other, each with data of its own size; their models are averaged.
class Federation {
 public:
  Federation(Tape& tape, Draws& draws)
      : tape_(tape),
        draws_(draws),
        images_(draws.one_in(2)),
        batch_(images_ ? draws.between(16, 64) : draws.pick<std::uint64_t>({128, 512, 1024})),
        clients_(draws.between(2, 5)),
        most_batches_(draws.between(2, 5)),
        sizes_differ_(draws.chance(40)),
        on_device_(draws.one_in(2)),
        empties_(draws.chance(30)),
        depth_(draws.between(3, 5)),
        channels_(draws.pick<std::uint64_t>({16, 32, 48})),
        width_(draws.pick<std::uint64_t>({512, 1024, 2048})),
        kind_(draws.next()),
        options_(TrainerOptions::draw(draws)) {
    for (const std::uint64_t bytes : model(1).weights) {
      server_.push_back(tape_.take(bytes));
    }
  }

  void step() {
    train_client(sizes_differ_ ? draws_.pick<std::uint64_t>({1, 1, 2, 4}) : 1);
    if (++trained_ % clients_ != 0) return;
    aggregate();
    if (empties_) tape_.empty_cache();
  }

 private:
  Net model(std::uint64_t share) {
    Draws same(kind_);  // clients train the same kind of model
    if (images_) return convolutions(same, depth_, channels_ / share);
    return perceptron({784, width_ / share, width_ / share, width_ / share, 64});
  }

  void train_client(std::uint64_t share) {
    Trainer client(tape_, draws_, model(share), options_);
    options_.library = false;
    client.load();
    const std::uint64_t samples = draws_.skewed(batch_ / 2, batch_ * most_batches_);
    for (std::uint64_t done = 0; done < samples; done += batch_) {
      const std::uint64_t batch = std::min(batch_, samples - done);
      if (batch > 1) client.step(batch, 32);
    }
    if (on_device_) {
      for (const std::uint64_t bytes : client.net().weights) {
        updates_.push_back(tape_.take(bytes));
      }
    }
    client.unload();
  }

  void aggregate() {
    std::vector<Tape::Block> averaged;
    for (const std::uint64_t bytes : model(1).weights) {
      const Tape::Block scaled = tape_.take(bytes);
      averaged.push_back(tape_.take(bytes));
      tape_.give(scaled);
    }
    tape_.give(updates_);
    tape_.give(server_);
    server_ = std::move(averaged);
  }

  Tape& tape_;
  Draws& draws_;
  const bool images_;
  const std::uint64_t batch_;
  const std::uint64_t clients_;
  const std::uint64_t most_batches_;
  const bool sizes_differ_;
  const bool on_device_;
  const bool empties_;
  const std::uint64_t depth_;
  const std::uint64_t channels_;
  const std::uint64_t width_;
  const std::uint64_t kind_;
  TrainerOptions options_;
  std::uint64_t trained_ = 0;
  std::vector<Tape::Block> server_;
  std::vector<Tape::Block> updates_;
};

template <class Job>
Step steps_of(Tape& tape, Draws& draws) {
  return [job = std::make_shared<Job>(tape, draws)] { job->step(); };
}

}  // namespace

Step actor_and_critic(Tape& tape, Draws& draws) {
  return steps_of<ActorCritic>(tape, draws);
}

Step prefetched_batches(Tape& tape, Draws& draws) {
  return steps_of<Prefetching>(tape, draws);
}

Step federated_rounds(Tape& tape, Draws& draws) {
  return steps_of<Federation>(tape, draws);
}

}  // namespace ebb::replay::generator
