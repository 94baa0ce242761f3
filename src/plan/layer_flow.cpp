// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_flow.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;
using Kind = NetworkLayer::Kind;
using ull = unsigned long long;

// With these, and a batch of 2^24, all counts of bytes stay below 2^64.
constexpr std::uint64_t kMostOfASide = 1 << 14;
constexpr std::uint64_t kMostClasses = 1 << 20;
constexpr std::uint64_t kMostValues = 1ULL << 26;
constexpr std::uint64_t kMostWeights = 1ULL << 34;

}  // namespace

std::uint64_t LayerFlow::values() const {
  return picture_->channels * picture_->height * picture_->width;
}

base::Status LayerFlow::begin() const {
  if (classes_ < 1 || classes_ > kMostClasses)
    return error(Code::bad_input, "%llu classes, expected 1 to 2^20", ull{classes_});
  if (!picture_) return {};
  bool sensible = true;
  for (const std::uint64_t size : {picture_->channels, picture_->height, picture_->width})
    sensible = sensible && size >= 1 && size <= kMostOfASide;
  if (sensible && values() <= kMostValues) return {};
  return error(Code::bad_input,
               "a picture of %llu x %llu x %llu, expected 1 to %llu each and at most 2^26 values",
               ull{picture_->channels}, ull{picture_->height}, ull{picture_->width},
               ull{kMostOfASide});
}

base::Status LayerFlow::pass(const NetworkLayer& layer, const std::string& where) {
  const bool takes_flat =
      layer.kind == Kind::linear || layer.kind == Kind::relu || layer.kind == Kind::dropout;
  if (flat_ && !takes_flat)
    return error(Code::bad_input,
                 "%s: comes after a linear layer, expected linear, relu or dropout", where.c_str());
  flat_ = flat_ || layer.kind == Kind::linear;
  if (!picture_) return {};
  if (const auto fits = measure(layer, where); !fits) return fits;
  if (values() <= kMostValues) return {};
  return error(Code::bad_input, "%s: gives %llu values, expected at most 2^26", where.c_str(),
               ull{values()});
}

base::Status LayerFlow::measure(const NetworkLayer& layer, const std::string& where) {
  Picture& picture = *picture_;
  switch (layer.kind) {
    case Kind::convolution:
      return convolve(layer, where);
    case Kind::max_pool:
      if (picture.height < layer.kernel || picture.width < layer.kernel)
        return error(Code::bad_input,
                     "%s: a kernel of %llu, expected one that fits into %llu x %llu", where.c_str(),
                     ull{layer.kernel}, ull{picture.height}, ull{picture.width});
      picture.height /= layer.kernel;
      picture.width /= layer.kernel;
      return {};
    case Kind::average_pool:
      picture.height = picture.width = 1;
      return {};
    case Kind::group_norm:
      if (picture.channels % layer.groups != 0)
        return error(Code::bad_input, "%s.num_groups: %llu, expected a divisor of %llu channels",
                     where.c_str(), ull{layer.groups}, ull{picture.channels});
      return count(2 * picture.channels, where);
    case Kind::linear: {
      const std::uint64_t inputs = values();
      picture = {layer.outputs, 1, 1};
      return count((inputs + (layer.bias ? 1 : 0)) * layer.outputs, where);
    }
    case Kind::relu:
    case Kind::dropout:
    case Kind::residual:
      break;
  }
  return {};
}

base::Status LayerFlow::convolve(const NetworkLayer& layer, const std::string& where) {
  Picture& picture = *picture_;
  const std::uint64_t inputs = picture.channels;
  for (std::uint64_t* side : {&picture.height, &picture.width}) {
    const std::uint64_t padded = *side + 2 * layer.padding;
    if (padded < layer.kernel)
      return error(Code::bad_input, "%s: a kernel of %llu, expected one that fits into %llu",
                   where.c_str(), ull{layer.kernel}, ull{padded});
    *side = (padded - layer.kernel) / layer.stride + 1;
  }
  picture.channels = layer.outputs;
  return count((inputs * layer.kernel * layer.kernel + (layer.bias ? 1 : 0)) * layer.outputs,
               where);
}

base::Status LayerFlow::count(std::uint64_t parameters, const std::string& where) {
  parameters_ += parameters;
  if (parameters_ <= kMostWeights) return {};
  return error(Code::bad_input, "%s: expected at most 2^34 parameters in all", where.c_str());
}

LayerFlow LayerFlow::around() const {
  LayerFlow other = *this;
  other.parameters_ = 0;
  return other;
}

base::Status LayerFlow::join(const LayerFlow& around, const std::string& where) {
  if (!picture_) return {};
  const Picture& one = *picture_;
  const Picture& other = *around.picture_;
  if (one.channels != other.channels || one.height != other.height || one.width != other.width)
    return error(Code::bad_input,
                 "%s: its body gives %llu x %llu x %llu, its shortcut %llu x %llu x %llu, expected "
                 "the same size",
                 where.c_str(), ull{one.channels}, ull{one.height}, ull{one.width},
                 ull{other.channels}, ull{other.height}, ull{other.width});
  return count(around.parameters_, where);
}

base::Status LayerFlow::end() const {
  if (!flat_)
    return error(Code::bad_input, "layers: none is linear, expected one that gives the classes");
  if (picture_ && values() != classes_)
    return error(Code::bad_input, "layers: the last one gives %llu values, expected %llu classes",
                 ull{values()}, ull{classes_});
  return {};
}

}  // namespace ebb::plan
