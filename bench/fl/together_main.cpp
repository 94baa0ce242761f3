// SPDX-License-Identifier: Apache-2.0
// Clients side by side on a card against the same clients one by one, in the same run, on synthetic
// data; with the memory that was planned and the memory that was taken, and sums of their updates
// on the card against the host's, bit by bit, and so are the masks of dropout layers.
//
//   fl-together [cuda|native]
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "fl/aggregate/update_sum.h"
#include "fl/card_use.h"
#include "fl/torch/backend.h"
#include "fl/torch/dropout.h"
#include "fl/torch/torch_trainer.h"
#include "sense/gpu.h"
#include "term/table.h"

namespace {

using namespace ebb;

struct Case {
  const char* model;
  plan::Picture picture;
  std::uint32_t clients;
  std::uint32_t samples;
  double least;  ///< times faster; 0: not asked for
};

double now() {
  return static_cast<double>(base::system_clock().now_ns()) * 1e-9;
}

std::uint64_t used_on_card() {
  const auto meter = sense::GpuMeter::open();
  if (!meter) return 0;
  const auto cards = meter->read();
  return cards && !cards->empty() ? cards->front().used.value_or(0) : 0;
}

int failed(const base::Error& error) {
  std::fprintf(stderr, "fl-together: %s\n", error.message.c_str());
  return 1;
}

struct Measured {
  double one_by_one = 0;
  double together = 0;
  float difference = 0;  ///< of weights, at the most
  std::uint64_t planned = 0;
  std::uint64_t taken = 0;
  double sums_on_host = 0;  ///< with what fetches the models
  double sums_on_card = 0;
  bool same_sums = false;
};

/// Adds all updates of a group up, on the host and where they are.
base::Status compare_sums(std::span<const float> global, fl::UpdateGroup& updates,
                          Measured& measured) {
  std::vector<fl::UpdateSum::Share> shares;
  for (std::size_t i = 0; i < updates.size(); ++i)
    shares.push_back({100.0 + 7 * static_cast<double>(i), i % 3 == 0 ? 0.7 : 1.0});
  fl::UpdateSum on_host(global.size(), 1e6);
  double start = now();
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const auto weights = updates.fetch(i);
    if (!weights) return weights.error();
    if (auto added = on_host.add(global, *weights, shares[i].weight, shares[i].factor); !added)
      return added;
  }
  measured.sums_on_host = now() - start;
  fl::UpdateSum on_card(global.size(), 1e6);
  start = now();
  if (auto added = on_card.add(updates, shares); !added) return added;
  if (auto brought = on_card.bring(); !brought) return brought;
  measured.sums_on_card = now() - start;
  measured.same_sums =
      std::equal(on_host.raw().begin(), on_host.raw().end(), on_card.raw().begin());
  return {};
}

base::Result<Measured> measure(const Case& one, fl::Backend backend) {
  fl::SyntheticOptions options;
  options.picture = one.picture;
  options.train = one.clients * one.samples;
  options.test = 10;
  auto data = fl::synthetic_data_set(options);
  if (!data) return data.error();
  const auto network = plan::network_named(one.model, one.picture, 10);
  if (!network) return network.error();
  auto trainer = fl::TorchTrainer::create(*network, *data, backend, {.clients = one.clients});
  if (!trainer) return trainer.error();
  const std::size_t size = (*trainer)->parameters();
  std::vector<float> global(size);
  (*trainer)->initialise(42, global);
  std::vector<std::uint32_t> order(options.train);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<fl::LocalTask> tasks;
  for (std::uint32_t client = 0; client < one.clients; ++client) {
    fl::LocalTask task;
    task.client = client;
    task.order = std::span(order).subspan(client * one.samples, one.samples);
    tasks.push_back(task);
  }
  Measured measured;
  std::vector<float> alone(size * one.clients);
  const auto one_by_one = [&]() -> base::Status {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto done =
          (*trainer)->train(0, global, tasks[i], std::span(alone).subspan(i * size, size));
      if (!done) return done.error();
    }
    return {};
  };
  std::vector<float> first(size);
  if (const auto warm = (*trainer)->train(0, global, tasks[0], first); !warm) return warm.error();
  double start = now();
  if (auto done = one_by_one(); !done) return done.error();
  measured.one_by_one = now() - start;
  const std::uint64_t before = used_on_card();
  const auto compare = [&](std::span<const fl::LocalResult>,
                           fl::UpdateGroup& updates) -> base::Status {
    for (std::size_t place = 0; place < updates.size(); ++place) {
      const auto weights = updates.fetch(place);
      if (!weights) return weights.error();
      for (std::size_t i = 0; i < size; ++i)
        measured.difference =
            std::max(measured.difference, std::abs(alone[place * size + i] - (*weights)[i]));
    }
    return compare_sums(global, updates, measured);
  };
  if (auto warm = (*trainer)->train_together(global, tasks, compare, nullptr); !warm)
    return warm.error();
  measured.taken = used_on_card() - std::min(before, used_on_card());
  start = now();
  const auto leave = [&](std::span<const fl::LocalResult>, fl::UpdateGroup& updates) {
    measured.together = now() - start;
    return compare_sums(global, updates, measured);
  };
  if (auto done = (*trainer)->train_together(global, tasks, leave, nullptr); !done)
    return done.error();
  const auto each = fl::side_by_side_bytes(*network, 32);
  if (!each) return each.error();
  measured.planned = *each * one.clients;
  return measured;
}

struct Masks {
  bool same = true;
  double on_host = 0;  ///< of one step
  double on_card = 0;
};

/// Those of 50 clients with batches of 10, as pfl-research's benchmark has them.
base::Result<Masks> compare_masks(fl::Backend backend, const plan::Picture& picture) {
  constexpr std::int64_t kRows = 10;
  constexpr std::size_t kSteps = 20;
  const auto device = fl::use_backend(backend);
  if (!device) return device.error();
  const auto network = plan::network_named("CNN-Dropout", picture, 10);
  if (!network) return network.error();
  const auto shape = fl::shape_of(*network);
  if (!shape) return shape.error();
  std::vector<fl::LocalTask> tasks(50);
  for (std::uint32_t client = 0; client < tasks.size(); ++client) {
    tasks[client].client = client * 85899345;  // up to the highest bit
    tasks[client].round = 1499;
    tasks[client].seed = 42;
  }
  fl::Dropout dropout(*shape, tasks, *device);
  Masks masks;
  for (std::size_t step = 0; step <= kSteps; ++step) {
    dropout.begin(step);
    for (std::size_t layer = 0; layer < shape->dropouts.size(); ++layer) {
      double start = now();
      const at::Tensor looped = dropout.mask_by_loop(layer, kRows);
      if (step > 0) masks.on_host += (now() - start) / kSteps;
      start = now();
      const at::Tensor computed = dropout.mask_by_operations(layer, kRows);
      // The card has made it when it can be summed.
      computed.sum().item<std::int64_t>();
      if (step > 0) masks.on_card += (now() - start) / kSteps;
      const at::Tensor of_a_round = dropout.mask(layer, kRows);
      masks.same = masks.same && looped.equal(computed.cpu()) && looped.equal(of_a_round.cpu());
    }
  }
  return masks;
}

}  // namespace

int main(int count, char** words) {
  const auto asked = fl::backend_from(count > 1 ? words[1] : "cuda");
  if (!asked) {
    std::fprintf(stderr, "%s\n", asked.error().message.c_str());
    return 2;
  }
  const fl::Backend backend = *asked;
  const plan::Picture grey{1, 28, 28};
  const plan::Picture colours{3, 32, 32};
  std::vector<Case> cases = {{"CNN-MNIST", grey, 10, 600, 0},   {"CNN-MNIST", grey, 50, 600, 10},
                             {"CNN-MNIST", grey, 200, 600, 0},  {"CNN-Dropout", colours, 50, 50, 0},
                             {"ResNet18", colours, 10, 256, 0}, {"ResNet18", colours, 32, 256, 3}};
  if (backend != fl::Backend::cuda) cases.resize(1);
  term::Table table({{"model", term::Align::left},
                     {"clients"},
                     {"samples each"},
                     {"one by one"},
                     {"side by side"},
                     {"times faster"},
                     {"weights differ by"},
                     {"planned"},
                     {"taken beside one by one"},
                     {"sums on the host"},
                     {"on the card"},
                     {"bits"}});
  bool good = true;
  for (const Case& one : cases) {
    const auto measured = measure(one, backend);
    if (!measured) return failed(measured.error());
    const double ratio = measured->one_by_one / measured->together;
    good = good && measured->same_sums && (ratio >= one.least || backend != fl::Backend::cuda);
    table.add_row({one.model, std::to_string(one.clients), std::to_string(one.samples),
                   base::format_text("%.3f s", measured->one_by_one),
                   base::format_text("%.3f s", measured->together),
                   base::format_text("%.1f", ratio),
                   base::format_text("%.1e", static_cast<double>(measured->difference)),
                   base::bytes_text(measured->planned), base::bytes_text(measured->taken),
                   base::format_text("%.4f s", measured->sums_on_host),
                   base::format_text("%.4f s", measured->sums_on_card),
                   measured->same_sums ? "the same" : "OTHER"});
    std::fprintf(stderr, "%s %u: %.3f %.3f\n", one.model, one.clients, measured->one_by_one,
                 measured->together);
  }
  const auto masks = compare_masks(backend, colours);
  if (!masks) return failed(masks.error());
  good = good && masks->same;
  std::printf(
      "masks of 50 CNN-Dropout, batch 10: %s bits; a step's take %.4f s in a loop, %.4f s by "
      "operations\n",
      masks->same ? "the same" : "OTHER", masks->on_host, masks->on_card);
  std::printf("batch 32, back end %s\n\n%s\n", name_of(backend), table.markdown().c_str());
  return good ? 0 : 1;
}
