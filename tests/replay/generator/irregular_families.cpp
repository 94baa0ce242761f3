// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "replay/generator/families.h"
#include "replay/generator/trainer.h"

namespace ebb::replay::generator {
namespace {

/// Text is written token by token: keys and values of all layers grow by concatenation until the
/// text happens to end.
class Decoding {
 public:
  Decoding(Tape& tape, Draws& draws)
      : tape_(tape),
        draws_(draws),
        layers_(draws.between(1, 4)),
        width_(draws.pick<std::uint64_t>({512, 1024, 2048})),
        vocabulary_(draws.pick<std::uint64_t>({8192, 32000, 50257})),
        grows_by_(draws.pick<std::uint64_t>({1, 1, 1, 16, 64})),
        largest_batch_(draws.between(2, 32)),
        longest_prompt_(draws.pick<std::uint64_t>({128, 512, 1024})),
        mean_tokens_(draws.between(6, 30)) {
    tape_.take(vocabulary_ * width_ * kElement);
    for (std::uint64_t i = 0; i < 4 * layers_; ++i) {
      tape_.take(width_ * width_ * kElement * (i % 2 + 1));
    }
    tape_.take(33554432);  // the matrix library's
  }

  /// One token.
  void step() {
    if (cache_.empty()) {
      begin();
    } else {
      write(1);
    }
    if (draws_.one_in(mean_tokens_)) tape_.give(cache_);
  }

 private:
  static constexpr std::uint64_t kElement = 2;

  void begin() {
    batch_ = draws_.between(1, largest_batch_);
    length_ = 0;
    capacity_ = 0;
    write(draws_.between(8, longest_prompt_));
  }

  void write(std::uint64_t tokens) {
    const std::uint64_t hidden = batch_ * tokens * width_ * kElement;
    length_ += tokens;
    const bool grows = length_ > capacity_;
    if (grows) capacity_ = (length_ + grows_by_ - 1) / grows_by_ * grows_by_;
    Tape::Block before = tape_.take(hidden);
    for (std::uint64_t layer = 0; layer < layers_; ++layer) {
      const Tape::Block joined = tape_.take(3 * hidden);
      if (grows) {
        grow(2 * layer);
        grow(2 * layer + 1);
      }
      const Tape::Block scores = tape_.take(batch_ * (width_ / 64) * tokens * length_ * kElement);
      const Tape::Block after = tape_.take(hidden);
      tape_.give(scores);
      tape_.give(joined);
      tape_.give(before);
      before = after;
    }
    const Tape::Block logits = tape_.take(batch_ * vocabulary_ * 4);
    tape_.give(before);
    const Tape::Block chosen = tape_.take(batch_ * 8);
    tape_.give(logits);
    tape_.give(chosen);
  }

  void grow(std::uint64_t which) {
    const Tape::Block larger = tape_.take(batch_ * capacity_ * width_ * kElement);
    if (which == cache_.size()) {
      cache_.push_back(larger);
    } else {
      tape_.give(cache_[which]);
      cache_[which] = larger;
    }
  }

  Tape& tape_;
  Draws& draws_;
  const std::uint64_t layers_;
  const std::uint64_t width_;
  const std::uint64_t vocabulary_;
  const std::uint64_t grows_by_;
  const std::uint64_t largest_batch_;
  const std::uint64_t longest_prompt_;
  const std::uint64_t mean_tokens_;
  std::uint64_t batch_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t capacity_ = 0;
  std::vector<Tape::Block> cache_;
};

/// Requests of many sizes come and go whenever they like.
class Serving {
 public:
  Serving(Tape& tape, Draws& draws)
      : tape_(tape),
        draws_(draws),
        most_(draws.between(4, 24)),
        blocks_(draws.between(1, 5)),
        unit_(draws.pick<std::uint64_t>({2048, 8192, 32768})),
        longest_(draws.between(200, 2000)),
        busy_(draws.between(50, 85)) {
    const std::uint64_t weights = draws.between(8, 24);
    for (std::uint64_t i = 0; i < weights; ++i) {
      tape_.take(draws.pick<std::uint64_t>({4096, 1 << 20, 4 << 20, 16 << 20}));
    }
  }

  /// One arrival, departure or answer.
  void step() {
    const std::uint64_t load = most_ * busy_ / 100;
    const bool arrives =
        open_.size() < most_ && draws_.below(2 * most_) >= open_.size() + most_ - load;
    if (open_.empty() || arrives) {
      arrive();
    } else if (draws_.one_in(3)) {
      compute(draws_.below(open_.size()));
    } else {
      const std::uint64_t leaving = draws_.below(open_.size());
      tape_.give(open_[leaving].blocks);
      std::swap(open_[leaving], open_.back());
      open_.pop_back();
    }
  }

 private:
  struct Request {
    std::uint64_t length = 0;
    std::vector<Tape::Block> blocks;
  };

  void arrive() {
    Request request;
    request.length = draws_.skewed(8, longest_);
    for (std::uint64_t i = 0; i < blocks_; ++i) {
      request.blocks.push_back(tape_.take(request.length * unit_ >> (i % 3)));
    }
    open_.push_back(std::move(request));
    compute(open_.size() - 1);
  }

  void compute(std::size_t which) {
    const std::uint64_t length = open_[which].length;
    const Tape::Block hidden = tape_.take(length * unit_ / 2);
    const Tape::Block wider = tape_.take(length * unit_ * 2);
    tape_.give(hidden);
    const Tape::Block answer = tape_.take(length * 4);
    tape_.give(wider);
    tape_.give(answer);
  }

  Tape& tape_;
  Draws& draws_;
  const std::uint64_t most_;
  const std::uint64_t blocks_;
  const std::uint64_t unit_;  ///< bytes per token
  const std::uint64_t longest_;
  const std::uint64_t busy_;  ///< percent of what it can hold
  std::vector<Request> open_;
};

}  // namespace

Step growing_cache(Tape& tape, Draws& draws) {
  return [job = std::make_shared<Decoding>(tape, draws)] { job->step(); };
}

Step random_graphs(Tape& tape, Draws& draws) {
  const auto width = draws.pick<std::uint64_t>({64, 128, 256});
  Net net = graph_network(draws.between(2, 4), width);
  const auto trainer =
      std::make_shared<Trainer>(tape, draws, std::move(net), TrainerOptions::draw(draws));
  trainer->load();
  const auto most = draws.pick<std::uint64_t>({5000, 20000, 60000});
  const std::uint64_t degree = draws.between(2, 12);
  return [=, &draws] {
    const std::uint64_t nodes = draws.skewed(most / 10, most);
    const std::uint64_t edges = nodes * degree * draws.between(50, 150) / 100;
    trainer->step(nodes, edges);
  };
}

Step server(Tape& tape, Draws& draws) {
  return [job = std::make_shared<Serving>(tape, draws)] { job->step(); };
}

}  // namespace ebb::replay::generator
