// SPDX-License-Identifier: Apache-2.0
#include "plan/network.h"

#include "plan/tape_writer.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;
using Kind = NetworkLayer::Kind;
using ull = unsigned long long;

constexpr std::uint64_t kMostBatch = 1 << 24;
constexpr std::uint64_t kMostSide = 1 << 14;
/// Of a batch: what layers make of it can be counted in 64 bits.
constexpr std::uint64_t kMostBatchValues = 1ULL << 48;

/// Writes layers one after another; what comes out of one goes into the next.
class NetworkWriter {
 public:
  NetworkWriter(std::uint64_t batch, Precision precision)
      : batch_(batch),
        tape_(precision == Precision::amp ? std::optional(ElementType::bf16) : std::nullopt) {}

  base::Result<Tape> write(const Network& network) {
    // A tape's inputs come first, though PyTorch has the weights first: neither order costs a byte.
    shape_ = network.picture;
    ValueId x = tape_.input(batch_ * elements(), ElementType::f32);
    const ValueId targets = tape_.input(batch_, ElementType::i64);
    if (const base::Status status = write(network.layers, x); !status) return status.error();
    tape_.begin_loss();
    tape_.enter(Part::logits);
    tape_.hold(x);
    tape_.cross_entropy(x, targets);
    return tape_.take();
  }

 private:
  std::uint64_t elements() const { return shape_.channels * shape_.height * shape_.width; }

  base::Status write(const std::vector<NetworkLayer>& layers, ValueId& x) {
    for (const NetworkLayer& layer : layers)
      if (base::Status status = write(layer, x); !status) return status;
    return {};
  }

  base::Status write(const NetworkLayer& layer, ValueId& x) {
    switch (layer.kind) {
      case Kind::convolution:
        return convolution(layer, x);
      case Kind::max_pool:
        tape_.enter(Part::convolution);
        shape_.height /= layer.kernel;
        shape_.width /= layer.kernel;
        if (elements() == 0) return error(Code::bad_input, "max_pool: the picture is too small");
        x = tape_.max_pool(x, batch_ * elements());
        return {};
      case Kind::average_pool:
        tape_.enter(Part::convolution);
        shape_.height = shape_.width = 1;
        x = tape_.average_pool(x, batch_ * elements());
        return {};
      case Kind::relu:
        x = tape_.relu(x, layer.in_place);
        return {};
      case Kind::group_norm:
        return group_norm(layer, x);
      case Kind::dropout:
        x = tape_.dropout(x, layer.rate);
        return {};
      case Kind::linear:
        linear(layer, x);
        return {};
      case Kind::residual:
        return residual(layer, x);
    }
    return {};
  }

  base::Status convolution(const NetworkLayer& layer, ValueId& x) {
    tape_.enter(Part::convolution);
    const Picture from = shape_;
    for (std::uint64_t* side : {&shape_.height, &shape_.width}) {
      if (*side + 2 * layer.padding < layer.kernel)
        return error(Code::bad_input,
                     "convolution: a picture of %llu is smaller than its kernel of %llu",
                     ull{*side}, ull{layer.kernel});
      *side = (*side + 2 * layer.padding - layer.kernel) / layer.stride + 1;
    }
    shape_.channels = layer.outputs;
    const ValueId weight = tape_.parameter("convolution.weight", ElementType::f32, layer.kernel,
                                           layer.kernel, from.channels * layer.outputs);
    std::optional<ValueId> bias;
    if (layer.bias)
      bias = tape_.vector_parameter("convolution.bias", ElementType::f32, layer.outputs);
    x = tape_.convolution(x, weight, bias,
                          {batch_, from.channels, from.height, from.width, shape_.channels,
                           shape_.height, shape_.width, layer.kernel, layer.stride});
    return {};
  }

  base::Status group_norm(const NetworkLayer& layer, ValueId& x) {
    if (layer.groups == 0 || shape_.channels % layer.groups != 0)
      return error(Code::bad_input, "group_norm: %llu groups do not divide %llu channels",
                   ull{layer.groups}, ull{shape_.channels});
    tape_.enter(Part::norm);
    const ValueId weight = tape_.vector_parameter("norm.weight", ElementType::f32, shape_.channels);
    const ValueId bias = tape_.vector_parameter("norm.bias", ElementType::f32, shape_.channels);
    x = tape_.group_norm(x, batch_ * layer.groups, weight, bias);
    return {};
  }

  void linear(const NetworkLayer& layer, ValueId& x) {
    tape_.enter(Part::feed_forward);
    const ValueId weight =
        tape_.parameter("linear.weight", ElementType::f32, layer.outputs, elements());
    std::optional<ValueId> bias;
    if (layer.bias) bias = tape_.vector_parameter("linear.bias", ElementType::f32, layer.outputs);
    x = tape_.linear(x, batch_, layer.outputs, weight, bias);
    shape_ = {layer.outputs, 1, 1};
  }

  base::Status residual(const NetworkLayer& layer, ValueId& x) {
    const Picture before = shape_;
    ValueId body = x, around = x;
    if (base::Status status = write(layer.body, body); !status) return status;
    const Picture after = shape_;
    shape_ = before;
    if (base::Status status = write(layer.around, around); !status) return status;
    if (shape_.channels != after.channels || shape_.height != after.height ||
        shape_.width != after.width)
      return error(Code::bad_input, "residual: both branches must end in pictures of one size");
    tape_.enter(Part::residual);
    const ValueId sum =
        layer.sums_in_place() ? tape_.add_in_place(body, around) : tape_.add(body, around);
    x = tape_.relu(sum, true);
    return {};
  }

  const std::uint64_t batch_;
  Picture shape_;
  TapeWriter tape_;
};

base::Status check(const Network& network, std::uint64_t batch, Precision precision) {
  const Picture& picture = network.picture;
  const bool sensible = picture.channels >= 1 && picture.channels <= kMostSide &&
                        picture.height >= 1 && picture.height <= kMostSide && picture.width >= 1 &&
                        picture.width <= kMostSide;
  if (!sensible)
    return error(Code::bad_input, "picture of %llu x %llu x %llu: expected 1 to %llu each",
                 ull{picture.channels}, ull{picture.height}, ull{picture.width}, ull{kMostSide});
  if (network.classes < 1 || network.classes > (1 << 20))
    return error(Code::bad_input, "classes %llu: expected 1 to 2^20", ull{network.classes});
  if (batch < 1 || batch > kMostBatch)
    return error(Code::bad_input, "batch %llu: expected 1 to %llu", ull{batch}, ull{kMostBatch});
  if (batch > kMostBatchValues / (picture.channels * picture.height * picture.width))
    return error(Code::bad_input,
                 "batch %llu of pictures of %llu x %llu x %llu: expected at most 2^48 values",
                 ull{batch}, ull{picture.channels}, ull{picture.height}, ull{picture.width});
  if (precision != Precision::fp32 && precision != Precision::amp)
    return error(Code::bad_input, "precision %s: networks of the simulator train in fp32 or amp",
                 name_of(precision));
  return {};
}

}  // namespace

bool NetworkLayer::sums_in_place() const {
  return !body.empty() &&
         (body.back().kind == Kind::convolution || body.back().kind == Kind::group_norm);
}

base::Result<std::uint64_t> Network::parameters() const {
  const auto tape = write_network(*this, 1, Precision::fp32);
  if (!tape) return tape.error();
  return tape->parameter_count();
}

base::Result<Tape> write_network(const Network& network, std::uint64_t batch, Precision precision) {
  if (const base::Status status = check(network, batch, precision); !status) return status.error();
  return NetworkWriter(batch, precision).write(network);
}

}  // namespace ebb::plan
