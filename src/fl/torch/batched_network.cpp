// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/batched_network.h"

#include <utility>

#include "fl/torch/pool.h"

namespace ebb::fl {

using plan::NetworkLayer;

/// One forward pass: takes the parameters in the order in which the layers come.
class BatchedNetwork::Pass {
 public:
  explicit Pass(const BatchedNetwork& network) : network_(network) {}

  at::Tensor through(const std::vector<NetworkLayer>& layers, at::Tensor flow) {
    for (const NetworkLayer& layer : layers)
      flow = through(layer, std::move(flow));
    return flow;
  }

 private:
  at::Tensor through(const NetworkLayer& layer, at::Tensor flow) {
    using Kind = NetworkLayer::Kind;
    const std::int64_t clients = network_.clients_;
    switch (layer.kind) {
      case Kind::convolution: {
        const at::Tensor weight = merged(next());
        const at::Tensor bias = layer.bias ? merged(next()) : at::Tensor();
        const auto stride = static_cast<std::int64_t>(layer.stride);
        const auto padding = static_cast<std::int64_t>(layer.padding);
        return at::conv2d(flow, weight, bias, at::IntArrayRef{stride, stride},
                          at::IntArrayRef{padding, padding}, at::IntArrayRef{1, 1}, clients);
      }
      case Kind::linear: {
        const at::Tensor& weight = next();
        const at::Tensor bias = layer.bias ? next() : at::Tensor();
        return clients == 1 ? at::linear(flow.flatten(1), weight, bias)
                            : side_by_side(std::move(flow), weight, bias);
      }
      case Kind::max_pool:
        return max_pool(flow, static_cast<std::int64_t>(layer.kernel));
      case Kind::average_pool:
        return at::adaptive_avg_pool2d(flow, {1, 1});
      case Kind::group_norm: {
        const at::Tensor scale = merged(next());
        const at::Tensor shift = merged(next());
        return at::group_norm(flow, clients * static_cast<std::int64_t>(layer.groups), scale,
                              shift);
      }
      case Kind::relu:
        return layer.in_place ? flow.relu_() : flow.relu();
      case Kind::residual: {
        at::Tensor body = through(layer.body, flow);
        at::Tensor around = through(layer.around, std::move(flow));
        return body.add_(around).relu_();
      }
    }
    return flow;
  }

  /// Linear layers keep clients in front, once the pictures are flat.
  at::Tensor side_by_side(at::Tensor flow, const at::Tensor& weight, const at::Tensor& bias) {
    if (flow.dim() == 4) flow = flow.view({flow.size(0), network_.clients_, -1}).transpose(0, 1);
    const at::Tensor turned = weight.transpose(1, 2);
    return bias.defined() ? at::baddbmm(bias.unsqueeze(1), flow, turned) : at::bmm(flow, turned);
  }

  /// Clients and their outputs in one dimension, as groups want them.
  at::Tensor merged(const at::Tensor& parameter) const {
    return network_.clients_ == 1 ? parameter : parameter.flatten(0, 1);
  }

  const at::Tensor& next() { return network_.parameters_[taken_++]; }

  const BatchedNetwork& network_;
  std::size_t taken_ = 0;
};

BatchedNetwork::BatchedNetwork(const plan::Network& network, const NetworkShape& shape,
                               std::int64_t clients, at::Device device)
    : network_(network), shape_(shape), clients_(clients) {
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  for (const ParameterShape& parameter : shape.parameters) {
    std::vector<std::int64_t> dimensions = parameter.dimensions;
    if (clients > 1) dimensions.insert(dimensions.begin(), clients);
    parameters_.push_back(at::zeros(dimensions, options).set_requires_grad(true));
  }
}

void BatchedNetwork::load(std::span<const float> weights) {
  const at::NoGradGuard guard;
  loaded_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterShape& shape = shape_.parameters[i];
    // from_blob wants to write; copy_ only reads.
    const at::Tensor given = at::from_blob(const_cast<float*>(weights.data() + shape.offset),
                                           shape.dimensions, at::kFloat);
    loaded_.push_back(given.to(parameters_[i].device()));
    parameters_[i].copy_(loaded_.back());
  }
}

void BatchedNetwork::store(std::span<float> weights) const {
  const at::NoGradGuard guard;
  for (std::int64_t client = 0; client < clients_; ++client) {
    float* model = weights.data() + static_cast<std::size_t>(client) * shape_.elements;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const ParameterShape& shape = shape_.parameters[i];
      const at::Tensor mine = clients_ == 1 ? parameters_[i] : parameters_[i][client];
      at::from_blob(model + shape.offset, shape.dimensions, at::kFloat).copy_(mine);
    }
  }
}

at::Tensor BatchedNetwork::forward(const at::Tensor& pictures) const {
  at::Tensor logits = Pass(*this).through(network_.layers, pictures);
  return clients_ == 1 ? logits.unsqueeze(0) : logits;
}

void BatchedNetwork::step(double lr, double proximal) {
  const at::NoGradGuard guard;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& parameter = parameters_[i];
    at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (proximal > 0) gradient = gradient + proximal * (parameter - loaded_[i]);
    parameter.sub_(gradient, lr);
    parameter.mutable_grad() = at::Tensor();
  }
}

}  // namespace ebb::fl
