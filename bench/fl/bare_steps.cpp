// SPDX-License-Identifier: Apache-2.0
#include "bare_steps.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "base/clock.h"

namespace ebb::bench {
namespace {

constexpr std::int64_t kEvaluationBatch = 32;

/// Calls work(item) for every item below `count` on several threads; seconds.
double on_threads(std::uint32_t threads, std::size_t count,
                  const std::function<void(std::size_t)>& work) {
  const std::int64_t start = base::system_clock().now_ns();
  std::atomic<std::size_t> next = 0;
  const auto labour = [&] {
    for (std::size_t item = next++; item < count; item = next++)
      work(item);
  };
  std::vector<std::thread> helpers;
  for (std::uint32_t i = 1; i < threads; ++i)
    helpers.emplace_back(labour);
  labour();
  for (std::thread& helper : helpers)
    helper.join();
  return base::seconds_between(start, base::system_clock().now_ns());
}

/// A layer as a product: so many rows of a sample, each of `inputs` values that become `outputs`.
struct Layer {
  std::int64_t rows;
  std::int64_t inputs;
  std::int64_t outputs;
};

constexpr Layer kLayers[] = {{24 * 24, 25, 10}, {8 * 8, 250, 20}, {1, 320, 50}, {1, 50, 10}};

/// The matrices of a layer and of its gradients, for up to `samples`.
struct Matrices {
  Matrices(const Layer& layer, std::int64_t samples)
      : seen(at::rand({layer.inputs, layer.rows * samples})),
        weight(at::rand({layer.outputs, layer.inputs})),
        pull(at::rand({layer.outputs, layer.rows * samples})),
        made(at::empty_like(pull)),
        of_weight(at::empty_like(weight)),
        of_seen(at::empty_like(seen)) {}

  at::Tensor seen, weight, pull, made, of_weight, of_seen;
};

class Products {
 public:
  explicit Products(std::int64_t samples) {
    for (const Layer& layer : kLayers)
      matrices_.emplace_back(layer, samples);
  }

  void forward(std::int64_t samples) {
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      Matrices& of = matrices_[i];
      const std::int64_t columns = kLayers[i].rows * samples;
      at::Tensor made = of.made.narrow(1, 0, columns);
      at::mm_out(made, of.weight, of.seen.narrow(1, 0, columns));
    }
  }

  void backward(std::int64_t samples) {
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      Matrices& of = matrices_[i];
      const std::int64_t columns = kLayers[i].rows * samples;
      const at::Tensor pull = of.pull.narrow(1, 0, columns);
      at::mm_out(of.of_weight, pull, of.seen.narrow(1, 0, columns).t());
      at::Tensor of_seen = of.of_seen.narrow(1, 0, columns);
      if (i > 0) at::mm_out(of_seen, of.weight.t(), pull);  // nobody asks for that of pictures
    }
  }

 private:
  std::vector<Matrices> matrices_;
};

}  // namespace

struct BareSteps::Model {
  Model() {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{10, 1, 5, 5},
                                                   {10},
                                                   {20, 10, 5, 5},
                                                   {20},
                                                   {50, 320},
                                                   {50},
                                                   {10, 50},
                                                   {10}})
      parameters.push_back((at::rand(shape) * 0.1 - 0.05).set_requires_grad(true));
  }

  at::Tensor forward(const at::Tensor& pictures) const {
    const auto& p = parameters;
    at::Tensor flow = at::max_pool2d(at::conv2d(pictures, p[0], p[1]), {2, 2}).relu();
    flow = at::max_pool2d(at::conv2d(flow, p[2], p[3]), {2, 2}).relu();
    flow = at::linear(flow.flatten(1), p[4], p[5]).relu();
    return at::linear(flow, p[6], p[7]);
  }

  void step(const at::Tensor& pictures, const at::Tensor& labels) {
    at::cross_entropy_loss(forward(pictures), labels).backward();
    const at::NoGradGuard guard;
    for (at::Tensor& parameter : parameters) {
      parameter.sub_(parameter.grad(), 0.01);
      parameter.mutable_grad() = at::Tensor();
    }
  }

  std::vector<at::Tensor> parameters;
};

BareSteps::BareSteps(const fl::DataSet& data, std::uint32_t batch, std::uint32_t threads)
    : data_(data), batch_(batch), threads_(threads) {}

double BareSteps::train(const std::vector<std::uint32_t>& samples_of_clients) {
  const at::Tensor pictures = at::randn({batch_, 1, 28, 28});
  const at::Tensor labels = at::randint(10, {batch_}, at::kLong);
  return on_threads(threads_, samples_of_clients.size(), [&](std::size_t client) {
    Model model;
    for (std::uint32_t left = samples_of_clients[client]; left > 0;) {
      const std::uint32_t count = std::min(left, batch_);
      model.step(pictures.narrow(0, 0, count), labels.narrow(0, 0, count));
      left -= count;
    }
  });
}

double BareSteps::evaluate() {
  const at::Tensor pictures = at::randn({kEvaluationBatch, 1, 28, 28});
  const auto samples = static_cast<std::int64_t>(data_.test.size());
  const auto batches =
      static_cast<std::size_t>((samples + kEvaluationBatch - 1) / kEvaluationBatch);
  const Model model;
  return on_threads(threads_, batches, [&](std::size_t batch) {
    const at::NoGradGuard guard;
    const std::int64_t left = samples - static_cast<std::int64_t>(batch) * kEvaluationBatch;
    model.forward(pictures.narrow(0, 0, std::min(left, kEvaluationBatch)));
  });
}

double BareSteps::multiply(const std::vector<std::uint32_t>& samples_of_clients) {
  const double training = on_threads(threads_, samples_of_clients.size(), [&](std::size_t client) {
    const at::NoGradGuard guard;
    Products products(batch_);
    for (std::uint32_t left = samples_of_clients[client]; left > 0;) {
      const std::uint32_t count = std::min(left, batch_);
      products.forward(count);
      products.backward(count);
      left -= count;
    }
  });
  const double evaluation = on_threads(threads_, threads_, [&](std::size_t thread) {
    const at::NoGradGuard guard;
    Products products(kEvaluationBatch);
    const auto samples = static_cast<std::int64_t>(data_.test.size() / threads_ +
                                                   (thread < data_.test.size() % threads_ ? 1 : 0));
    for (std::int64_t left = samples; left > 0; left -= kEvaluationBatch)
      products.forward(std::min(left, kEvaluationBatch));
  });
  return training + evaluation;
}

}  // namespace ebb::bench
