// SPDX-License-Identifier: Apache-2.0
#include "fl/network_shape.h"

#include <algorithm>
#include <numeric>

namespace ebb::fl {
namespace {

using plan::NetworkLayer;
using Kind = NetworkLayer::Kind;

/// What flows between two layers.
struct Flow {
  std::uint64_t channels;
  std::uint64_t height;
  std::uint64_t width;

  std::uint64_t elements() const { return channels * height * width; }
};

class Walk {
 public:
  /// Code::bad_input as shape_of.
  base::Result<Flow> through(const std::vector<NetworkLayer>& layers, Flow flow) {
    for (const NetworkLayer& layer : layers) {
      auto next = through(layer, flow);
      if (!next) return next;
      flow = *next;
    }
    return flow;
  }

  NetworkShape shape;

 private:
  base::Result<Flow> through(const NetworkLayer& layer, Flow flow) {
    switch (layer.kind) {
      case Kind::convolution:
        return convolve(layer, flow);
      case Kind::linear: {
        const std::uint64_t inputs = flow.elements();
        add(ParameterShape::Kind::weight, {layer.outputs, inputs}, inputs);
        if (layer.bias) add(ParameterShape::Kind::bias, {layer.outputs}, inputs);
        shape.macs_per_sample += static_cast<double>(inputs * layer.outputs);
        return Flow{layer.outputs, 1, 1};
      }
      case Kind::max_pool:
        if (flow.height < layer.kernel || flow.width < layer.kernel)
          return base::error(base::Code::bad_input,
                             "a pool of %llu does not fit into pictures of %llu x %llu",
                             static_cast<unsigned long long>(layer.kernel),
                             static_cast<unsigned long long>(flow.width),
                             static_cast<unsigned long long>(flow.height));
        return Flow{flow.channels, flow.height / layer.kernel, flow.width / layer.kernel};
      case Kind::average_pool:
        return Flow{flow.channels, 1, 1};
      case Kind::group_norm:
        add(ParameterShape::Kind::scale, {flow.channels}, 0);
        add(ParameterShape::Kind::shift, {flow.channels}, 0);
        return flow;
      case Kind::dropout:
        shape.dropouts.push_back({layer.rate, flow.elements()});
        return flow;
      case Kind::residual: {
        const auto out = through(layer.body, flow);
        if (!out) return out;
        const auto around = through(layer.around, flow);
        if (!around) return around;
        if (around->elements() != out->elements())
          return base::error(base::Code::bad_input,
                             "the two branches of a residual layer end in different sizes");
        return out;
      }
      case Kind::relu:
        break;
    }
    return flow;
  }

  base::Result<Flow> convolve(const NetworkLayer& layer, const Flow& flow) {
    const std::uint64_t padded_height = flow.height + 2 * layer.padding;
    const std::uint64_t padded_width = flow.width + 2 * layer.padding;
    if (padded_height < layer.kernel || padded_width < layer.kernel || layer.stride == 0)
      return base::error(base::Code::bad_input,
                         "a convolution of %llu does not fit into pictures of %llu x %llu",
                         static_cast<unsigned long long>(layer.kernel),
                         static_cast<unsigned long long>(flow.width),
                         static_cast<unsigned long long>(flow.height));
    const Flow out = {layer.outputs, (padded_height - layer.kernel) / layer.stride + 1,
                      (padded_width - layer.kernel) / layer.stride + 1};
    const std::uint64_t fan_in = flow.channels * layer.kernel * layer.kernel;
    add(ParameterShape::Kind::weight, {layer.outputs, flow.channels, layer.kernel, layer.kernel},
        fan_in);
    if (layer.bias) add(ParameterShape::Kind::bias, {layer.outputs}, fan_in);
    shape.macs_per_sample += static_cast<double>(out.elements() * fan_in);
    const std::size_t columns = fan_in * out.height * out.width;
    shape.largest_columns = std::max(shape.largest_columns, columns);
    if (flow.channels <= kFewInputs && layer.kernel > 1) shape.kept_columns += columns;
    return out;
  }

  void add(ParameterShape::Kind kind, const std::vector<std::uint64_t>& dimensions,
           std::uint64_t fan_in) {
    ParameterShape parameter;
    parameter.kind = kind;
    parameter.dimensions.assign(dimensions.begin(), dimensions.end());
    parameter.offset = shape.elements;
    parameter.elements = std::accumulate(dimensions.begin(), dimensions.end(), std::size_t{1},
                                         [](std::size_t a, std::uint64_t b) { return a * b; });
    parameter.fan_in = fan_in;
    shape.elements += parameter.elements;
    shape.parameters.push_back(std::move(parameter));
  }
};

}  // namespace

base::Result<NetworkShape> shape_of(const plan::Network& network) {
  Walk walk;
  const auto end =
      walk.through(network.layers,
                   Flow{network.picture.channels, network.picture.height, network.picture.width});
  if (!end) return end.error();
  if (end->elements() != network.classes)
    return base::error(base::Code::bad_input, "model '%s' ends in %llu values, expected %llu",
                       network.name.c_str(), static_cast<unsigned long long>(end->elements()),
                       static_cast<unsigned long long>(network.classes));
  return std::move(walk.shape);
}

}  // namespace ebb::fl
