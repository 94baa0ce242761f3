// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/batched_network.h"

#include <algorithm>
#include <span>
#include <utility>

#include "fl/torch/pool.h"

namespace ebb::fl {

using plan::NetworkLayer;

namespace {

/// Grouped convolutions with fewer input channels than this leave a GPU idle.
constexpr std::uint64_t kManyChannels = 32;

/// The usual number of input channels of a network's convolutions.
std::uint64_t usual_channels(const NetworkShape& shape) {
  std::vector<std::uint64_t> channels;
  for (const ParameterShape& parameter : shape.parameters) {
    if (parameter.dimensions.size() == 4)
      channels.push_back(static_cast<std::uint64_t>(parameter.dimensions[1]));
  }
  if (channels.empty()) return 0;
  std::nth_element(channels.begin(),
                   channels.begin() + static_cast<std::ptrdiff_t>(channels.size() / 2),
                   channels.end());
  return channels[channels.size() / 2];
}

std::unique_ptr<Layers> layers_for(const NetworkShape& shape, std::int64_t clients,
                                   BatchedNetwork::Use use) {
  const bool has_many = usual_channels(shape) >= kManyChannels;
  if (clients > 1) return has_many ? grouped_layers(clients) : column_layers();
  return has_many && use == BatchedNetwork::Use::evaluation ? channels_last_layers()
                                                            : plain_layers();
}

/// Room for a parameter, with the channels of an input last where it is a convolution's.
at::Tensor room_with_channels_last(const std::vector<std::int64_t>& dimensions,
                                   const at::TensorOptions& options) {
  std::vector<std::int64_t> turned = dimensions;
  std::rotate(turned.end() - 3, turned.end() - 2, turned.end());
  return at::empty(turned, options).movedim(-1, -3);
}

/// One after the other into a row on the host.
void write(const std::vector<at::Tensor>& values, at::Tensor row) {
  if (values.front().is_cpu())
    at::cat_out(row, values);
  else
    row.copy_(at::cat(values));  // a card makes one row of them sooner than it sends each
}

}  // namespace

/// One forward pass: takes the parameters in the order in which the layers come.
class BatchedNetwork::Pass {
 public:
  Pass(const BatchedNetwork& network, const Dropout* dropout, std::int64_t rows, double lr)
      : network_(network), dropout_(dropout), rows_(rows), lr_(lr) {}

  at::Tensor through(std::span<const NetworkLayer> layers, at::Tensor flow) {
    using Kind = NetworkLayer::Kind;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (const std::size_t done = rectify_convolution(layers.subspan(i), flow); done > 0) {
        i += done - 1;
        continue;
      }
      // On the host the largest of four comes first: it is rectified to the same bits, a quarter of
      // the work, and along with pooling.
      if (const auto kernel = rectified_pool(layers.subspan(i)); kernel && flow.is_cpu()) {
        flow = network_.layers_->rectified_max_pool(flow, *kernel);
        ++i;
        continue;
      }
      // What writes over a normalisation's output is done along with it.
      const bool rectifies = layers[i].kind == Kind::group_norm && i + 1 < layers.size() &&
                             layers[i + 1].kind == Kind::relu && layers[i + 1].in_place;
      flow = rectifies ? normalise(layers[i], flow, at::Tensor(), true)
                       : through(layers[i], std::move(flow));
      if (rectifies) ++i;
    }
    return flow;
  }

 private:
  at::Tensor through(const NetworkLayer& layer, at::Tensor flow) {
    using Kind = NetworkLayer::Kind;
    const Layers& kinds = *network_.layers_;
    switch (layer.kind) {
      case Kind::convolution: {
        const at::Tensor& weight = next();
        return convolve(layer, flow, weight, layer.bias ? next() : at::Tensor());
      }
      case Kind::linear: {
        const at::Tensor& weight = next();
        const at::Tensor bias = layer.bias ? next() : at::Tensor();
        return kinds.multiply(flow, weight, bias, lr_);
      }
      case Kind::max_pool:
        return kinds.max_pool(flow, static_cast<std::int64_t>(layer.kernel));
      case Kind::average_pool:
        return kinds.average(flow);
      case Kind::group_norm:
        return normalise(layer, flow, at::Tensor(), false);
      case Kind::relu:
        return layer.in_place ? flow.relu_() : flow.relu();
      case Kind::dropout: {
        if (dropout_ == nullptr) return flow;
        const std::size_t which = dropped_++;
        const at::Tensor mask = dropout_->mask(which, rows_);
        // The product keeps the mask for its gradient, a byte a value, and nothing else.
        return flow.mul(kinds.lay_out(mask, flow)).mul_(dropout_->scale(which));
      }
      case Kind::residual:
        return residual(layer, std::move(flow));
    }
    return flow;
  }

  at::Tensor convolve(const NetworkLayer& layer, const at::Tensor& flow, const at::Tensor& weight,
                      const at::Tensor& bias) const {
    return network_.layers_->convolve(flow, weight, bias, static_cast<std::int64_t>(layer.stride),
                                      static_cast<std::int64_t>(layer.padding), lr_);
  }

  /// A convolution with a bias and what follows it, as far as that is done along with it: how many
  /// of these layers `flow` went through.
  std::size_t rectify_convolution(std::span<const NetworkLayer> layers, at::Tensor& flow) {
    using Kind = NetworkLayer::Kind;
    const auto is = [&](std::size_t i, Kind kind) {
      return i < layers.size() && layers[i].kind == kind;
    };
    const Rectifier* const rectifier = network_.layers_->rectifier();
    if (rectifier == nullptr || !is(0, Kind::convolution) || !layers[0].bias || !is(1, Kind::relu))
      return 0;
    const at::Tensor& weight = next();
    const at::Tensor& bias = next();
    flow = convolve(layers[0], flow, weight, at::Tensor());
    const std::size_t after = is(3, Kind::dropout) ? 4 : 3;
    if (!is(2, Kind::max_pool) || layers[2].kernel != 2 || !is(after, Kind::linear)) {
      flow = rectifier->rectify(flow, bias);
      return 2;
    }
    const bool drops = after == 4 && dropout_ != nullptr;
    const std::size_t which = drops ? dropped_++ : 0;
    flow =
        rectifier->rectify_and_pool(flow, bias, drops ? dropout_->mask(which, rows_) : at::Tensor(),
                                    drops ? dropout_->scale(which) : 1);
    return after;
  }

  at::Tensor normalise(const NetworkLayer& layer, const at::Tensor& flow, const at::Tensor& added,
                       bool rectifies) {
    const at::Tensor& scale = next();
    const at::Tensor& shift = next();
    return network_.layers_->normalise(flow, static_cast<std::int64_t>(layer.groups), scale, shift,
                                       added, rectifies);
  }

  at::Tensor residual(const NetworkLayer& layer, at::Tensor flow) {
    const std::span<const NetworkLayer> body(layer.body);
    if (body.empty() || body.back().kind != NetworkLayer::Kind::group_norm) {
      at::Tensor inside = through(body, flow);
      const at::Tensor around = through(layer.around, std::move(flow));
      return (layer.sums_in_place() ? inside.add_(around) : inside.add(around)).relu_();
    }
    const at::Tensor inside = through(body.first(body.size() - 1), flow);
    const at::Tensor& scale = next();
    const at::Tensor& shift = next();
    const at::Tensor around = through(layer.around, std::move(flow));
    return network_.layers_->normalise(inside, static_cast<std::int64_t>(body.back().groups), scale,
                                       shift, around, true);
  }

  const at::Tensor& next() { return network_.parameters_[taken_++]; }

  const BatchedNetwork& network_;
  const Dropout* const dropout_;
  const std::int64_t rows_;
  const double lr_;
  std::size_t taken_ = 0;
  std::size_t dropped_ = 0;
};

BatchedNetwork::BatchedNetwork(const plan::Network& network, const NetworkShape& shape,
                               std::int64_t clients, at::Device device, Use use)
    : network_(network),
      shape_(shape),
      clients_(clients),
      layers_(layers_for(shape, clients, use)) {
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  for (const ParameterShape& parameter : shape.parameters) {
    std::vector<std::int64_t> dimensions = parameter.dimensions;
    if (clients > 1) dimensions.insert(dimensions.begin(), clients);
    // load() fills it.
    const bool turns = parameter.dimensions.size() == 4 && layers_->keeps_channels_last();
    const at::Tensor values =
        turns ? room_with_channels_last(dimensions, options) : at::empty(dimensions, options);
    parameters_.push_back(values.detach().set_requires_grad(true));
  }
}

void BatchedNetwork::load(std::span<const float> weights) {
  const at::NoGradGuard guard;
  loaded_.clear();
  // from_blob wants to write; copy_ only reads. They go to a card in one piece.
  const at::Tensor given = at::from_blob(const_cast<float*>(weights.data()),
                                         {static_cast<std::int64_t>(weights.size())}, at::kFloat)
                               .to(parameters_.front().device());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterShape& shape = shape_.parameters[i];
    loaded_.push_back(given
                          .narrow(0, static_cast<std::int64_t>(shape.offset),
                                  static_cast<std::int64_t>(shape.elements))
                          .view(shape.dimensions));
    parameters_[i].copy_(loaded_.back());
  }
}

at::Tensor BatchedNetwork::finite() const {
  const at::NoGradGuard guard;
  at::Tensor all = at::ones({clients_}, parameters_.front().options().dtype(at::kBool));
  for (const at::Tensor& parameter : parameters_)
    all.logical_and_(parameter.isfinite().reshape({clients_, -1}).all(1));
  return all.cpu();
}

at::Tensor BatchedNetwork::of_client(const at::Tensor& values, std::int64_t client) const {
  return (clients_ == 1 ? values : values[client]).flatten();
}

void BatchedNetwork::store(std::int64_t client, at::Tensor row) const {
  const at::NoGradGuard guard;
  std::vector<at::Tensor> mine;
  for (const at::Tensor& parameter : parameters_)
    mine.push_back(of_client(parameter, client));
  write(mine, std::move(row));
}

void BatchedNetwork::gradient(std::int64_t client, at::Tensor row) const {
  const at::NoGradGuard guard;
  std::vector<at::Tensor> mine;
  for (const at::Tensor& parameter : parameters_) {
    const at::Tensor gradient = parameter.grad();
    mine.push_back(of_client(gradient.defined() ? gradient : at::zeros_like(parameter), client));
  }
  write(mine, std::move(row));
}

at::Tensor BatchedNetwork::forward(const at::Tensor& pictures, const Dropout* dropout,
                                   double lr) const {
  Pass pass(*this, dropout, pictures.size(1), lr);
  return layers_->leave(pass.through(network_.layers, layers_->enter(pictures)));
}

void BatchedNetwork::follow(double lr, const at::Tensor& directions) {
  const at::NoGradGuard guard;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterShape& shape = shape_.parameters[i];
    const at::Tensor part = directions.narrow(1, static_cast<std::int64_t>(shape.offset),
                                              static_cast<std::int64_t>(shape.elements));
    parameters_[i].sub_(part.view(parameters_[i].sizes()), lr);
  }
}

void BatchedNetwork::forget_gradients() {
  for (at::Tensor& parameter : parameters_)
    parameter.mutable_grad() = at::Tensor();
}

void BatchedNetwork::step(double lr, double proximal, const at::Tensor& pulled) {
  const at::NoGradGuard guard;
  std::vector<at::Tensor> moving;
  std::vector<at::Tensor> gradients;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& parameter = parameters_[i];
    at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (proximal > 0) {
      at::Tensor pull = proximal * (parameter - loaded_[i]);
      if (pulled.defined()) {
        std::vector<std::int64_t> each(static_cast<std::size_t>(pull.dim()), 1);
        each.front() = clients_;
        pull.mul_(pulled.view(each));
      }
      gradient = gradient + pull;
    }
    moving.push_back(parameter);
    gradients.push_back(gradient);
    parameter.mutable_grad() = at::Tensor();
  }
  // On a card one kernel moves many parameters; on the host it is one after the other.
  at::_foreach_sub_(moving, gradients, lr);
}

}  // namespace ebb::fl
