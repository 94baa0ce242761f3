// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "replay/generator/families.h"
#include "replay/generator/trainer.h"

namespace ebb::replay::generator {
namespace {

/// A model that is trained, and the largest input that its job gives it.
struct Training {
  std::shared_ptr<Trainer> trainer;
  std::uint64_t batch = 1;
  std::uint64_t length = 1;
};

Training train(Tape& tape, Draws& draws, Net net) {
  Training training;
  training.trainer =
      std::make_shared<Trainer>(tape, draws, std::move(net), TrainerOptions::draw(draws));
  training.trainer->load();
  return training;
}

Training language_model(Tape& tape, Draws& draws) {
  const auto width = draws.pick<std::uint64_t>({256, 384, 512, 768, 1024});
  const auto vocabulary = draws.pick<std::uint64_t>({256, 1024, 8192, 32000});
  const bool written_out = draws.chance(40);
  Training training = train(tape, draws,
                            transformer(draws, draws.pick<std::uint64_t>({1, 1, 1, 2, 2, 3}), width,
                                        vocabulary, written_out));
  training.length = draws.pick<std::uint64_t>({128, 256, 384, 512, 1024});
  // Logits in full precision are the largest: some hundred MiB at the most.
  const std::uint64_t most = (256ULL << 20) / (training.length * vocabulary * 4);
  training.batch =
      std::clamp<std::uint64_t>(draws.between(2, 32), 1, std::max<std::uint64_t>(1, most));
  return training;
}

Training image_model(Tape& tape, Draws& draws) {
  const auto channels = draws.pick<std::uint64_t>({16, 24, 32, 48, 64});
  Training training = train(tape, draws, convolutions(draws, draws.between(3, 7), channels));
  training.length = draws.pick<std::uint64_t>({96, 128, 160, 192, 224});
  training.batch = draws.between(8, 48);
  return training;
}

Training table_model(Tape& tape, Draws& draws) {
  std::vector<std::uint64_t> widths(draws.between(3, 6));
  for (std::uint64_t& width : widths) {
    width = draws.pick<std::uint64_t>({256, 512, 1024, 1536, 2048, 4096});
  }
  Training training = train(tape, draws, perceptron(std::move(widths)));
  training.batch = draws.pick<std::uint64_t>({128, 256, 512, 1000, 2048, 4096});
  return training;
}

Training any_model(Tape& tape, Draws& draws) {
  switch (draws.below(3)) {
    case 0:
      return language_model(tape, draws);
    case 1:
      return image_model(tape, draws);
    default:
      return table_model(tape, draws);
  }
}

/// Lengths of texts, as different data give them.
std::function<std::uint64_t()> lengths(Draws& draws, std::uint64_t longest) {
  const std::uint64_t shortest = std::max<std::uint64_t>(16, longest / draws.between(3, 16));
  const auto multiple = draws.pick<std::uint64_t>({1, 8, 16, 64});
  const std::uint64_t kind = draws.below(3);
  return [&draws, shortest, longest, multiple, kind] {
    std::uint64_t length = 0;
    if (kind == 0) {
      length = draws.between(shortest, longest);
    } else if (kind == 1) {
      length = draws.skewed(shortest, longest);
    } else {  // buckets: powers of two up to the longest
      length = longest >> draws.below(4);
    }
    return std::min(longest, (length + multiple - 1) / multiple * multiple);
  };
}

}  // namespace

Step constant_shapes(Tape& tape, Draws& draws) {
  const Training job = any_model(tape, draws);
  // Without drop_last the last batch of an epoch is what is left.
  const std::uint64_t epoch = draws.one_in(3) ? draws.between(4, 12) : 0;
  const std::uint64_t rest = draws.between(1, std::max<std::uint64_t>(1, job.batch - 1));
  return [job, epoch, rest, n = std::uint64_t{0}]() mutable {
    const bool last = epoch != 0 && ++n % epoch == 0;
    job.trainer->step(last ? rest : job.batch, job.length);
  };
}

Step varying_lengths(Tape& tape, Draws& draws) {
  const Training job = language_model(tape, draws);
  const auto length = lengths(draws, job.length);
  // Some fill a batch up to a number of tokens.
  const bool by_tokens = draws.one_in(4);
  return [job, length, by_tokens] {
    const std::uint64_t drawn = length();
    const std::uint64_t tokens = job.batch * job.length / 2;
    const std::uint64_t batch =
        by_tokens ? std::clamp<std::uint64_t>(tokens / drawn, 1, 4 * job.batch) : job.batch;
    job.trainer->step(batch, drawn);
  };
}

Step accumulated_gradients(Tape& tape, Draws& draws) {
  const Training job = any_model(tape, draws);
  const auto length = lengths(draws, std::max<std::uint64_t>(job.length, 32));
  const bool varying = job.length > 1 && draws.one_in(2);
  const std::uint64_t period = draws.between(2, 8);
  return [job, length, varying, period, n = std::uint64_t{0}]() mutable {
    job.trainer->forward(job.batch, varying ? length() : job.length);
    job.trainer->backward();
    if (++n % period != 0) return;
    job.trainer->update();
    job.trainer->zero_grad();
  };
}

Step multi_scale_images(Tape& tape, Draws& draws) {
  const Training job = image_model(tape, draws);
  const std::uint64_t scales = draws.between(3, 8);
  const auto stride = draws.pick<std::uint64_t>({8, 16, 32});
  const bool varying_batch = draws.one_in(3);
  const std::uint64_t period = draws.pick<std::uint64_t>({1, 1, 1, 2, 10});
  return [=, &draws, side = job.length, n = std::uint64_t{0}]() mutable {
    if (n++ % period == 0) side = job.length + stride * draws.below(scales);
    job.trainer->step(varying_batch ? draws.between(job.batch / 2, job.batch) : job.batch, side);
  };
}

Step evaluation_between(Tape& tape, Draws& draws) {
  const Training job = any_model(tape, draws);
  const std::uint64_t every = draws.between(2, 6);
  const std::uint64_t batches = draws.between(1, 4);
  const std::uint64_t factor = draws.between(1, 3);
  const bool varying = draws.one_in(2);
  return [=, &tape, &draws, n = std::uint64_t{0}]() mutable {
    job.trainer->step(job.batch, job.length);
    if (++n % every != 0) return;
    std::vector<Tape::Block> outputs;
    for (std::uint64_t i = 0; i < batches; ++i) {
      const std::uint64_t batch = job.batch * factor;
      outputs.push_back(job.trainer->infer(varying ? draws.between(1, batch) : batch, job.length));
    }
    const Tape::Block scores = tape.take(batches * job.batch * factor * 4);
    tape.give(outputs);
    tape.give(scores);
  };
}

Step slow_leak(Tape& tape, Draws& draws) {
  const Training job = any_model(tape, draws);
  const auto length = lengths(draws, std::max<std::uint64_t>(job.length, 32));
  const bool varying = job.length > 1 && draws.one_in(2);
  // A loss kept with its graph, hidden states kept for a plot, a cache without an end.
  const auto kept = draws.pick<std::uint64_t>({4, 2048, 65536, 300000, 1 << 20, 3 << 20});
  const std::uint64_t every = draws.between(1, 3);
  return [=, &tape, n = std::uint64_t{0}]() mutable {
    job.trainer->forward(job.batch, varying ? length() : job.length);
    if (++n % every == 0) tape.take(kept);
    job.trainer->backward();
    job.trainer->update();
    job.trainer->zero_grad();
  };
}

}  // namespace ebb::replay::generator
