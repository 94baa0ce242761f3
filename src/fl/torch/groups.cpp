// SPDX-License-Identifier: Apache-2.0
#include "fl/network_shape.h"
#include "fl/torch/card_kernels.h"
#include "fl/torch/group_norm.h"
#include "fl/torch/layers.h"
#include "fl/torch/product_convolution.h"
#include "fl/torch/rectified.h"

namespace ebb::fl {
namespace {

/// What flows is [batch, clients * channels, height, width] with channels last, which cards
/// convolve faster in groups, and [clients, batch, features] from the first linear layer on.
class Grouped final : public Layers, public Rectifier {
 public:
  explicit Grouped(std::int64_t clients) : clients_(clients) {}

  bool keeps_channels_last() const override { return true; }
  at::Tensor enter(const at::Tensor& pictures) const override {
    return pictures.transpose(0, 1).flatten(1, 2).contiguous(kLast);
  }
  at::Tensor convolve(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t stride, std::int64_t padding, double lr) const override {
    if (weight.size(3) == 1 && weight.size(4) == 1 && padding == 0)
      return mix_channels(flow, weight, bias, stride, lr);
    if (suits_products(flow, weight, stride, padding)) {
      const at::Tensor out = convolve_by_products(
          flow, weight,
          {.stride = stride, .padding = padding, .lr = lr, .keeps_windows = has_few_inputs(weight)},
          CardKernels::of(flow.device()));
      return bias.defined() ? out + merged(bias).view({1, -1, 1, 1}) : out;
    }
    return at::conv2d(flow.contiguous(kLast), merged(weight).contiguous(kLast), merged(bias),
                      at::IntArrayRef{stride, stride}, at::IntArrayRef{padding, padding},
                      at::IntArrayRef{1, 1}, clients_);
  }
  const Rectifier* rectifier() const override { return this; }
  at::Tensor rectify(const at::Tensor& flow, const at::Tensor& bias) const override {
    return rectified(flow, bias, CardKernels::of(flow.device()));
  }
  at::Tensor rectify_and_pool(const at::Tensor& flow, const at::Tensor& bias,
                              const at::Tensor& mask, double scale) const override {
    return rectified_and_pooled(flow, bias, mask, scale, CardKernels::of(flow.device()));
  }
  at::Tensor max_pool(const at::Tensor& flow, std::int64_t kernel) const override {
    return at::max_pool2d(flow, {kernel, kernel});
  }
  at::Tensor average(const at::Tensor& flow) const override {
    return at::adaptive_avg_pool2d(flow, {1, 1});
  }
  at::Tensor normalise(const at::Tensor& flow, std::int64_t groups, const at::Tensor& scale,
                       const at::Tensor& shift, const at::Tensor& added,
                       bool rectifies) const override {
    return normalise_channels_last(flow, groups, scale, shift, added, rectifies,
                                   CardKernels::of(flow.device()));
  }
  at::Tensor multiply(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      double lr) const override {
    const at::Tensor flat =
        flow.dim() == 4 ? flow.reshape({flow.size(0), clients_, -1}).transpose(0, 1) : flow;
    return multiply_side_by_side(flat, weight, bias, lr);
  }
  at::Tensor lay_out(const at::Tensor& mask, const at::Tensor& flow) const override {
    return flow.dim() == 4 ? mask.transpose(0, 1).reshape(flow.sizes()) : mask;
  }
  at::Tensor leave(const at::Tensor& flow) const override { return flow; }

 private:
  static constexpr auto kLast = at::MemoryFormat::ChannelsLast;
  static constexpr std::int64_t kFewOutputs = 16;  ///< of a picture and channel

  /// So few that cuDNN takes a launch for each client, and lays the flow out anew for that.
  static bool has_few_inputs(const at::Tensor& weight) {
    return static_cast<std::uint64_t>(weight.size(2)) <= kFewInputs;
  }

  /// Where the groups' own kernels are slow on a card: of few inputs, with strides, and where there
  /// are fewer outputs than channels.
  static bool suits_products(const at::Tensor& flow, const at::Tensor& weight, std::int64_t stride,
                             std::int64_t padding) {
    const auto outputs_along = [&](std::int64_t size) {
      return (size + 2 * padding - weight.size(3)) / stride + 1;
    };
    return has_few_inputs(weight) || stride > 1 ||
           outputs_along(flow.size(2)) * outputs_along(flow.size(3)) <= kFewOutputs;
  }

  /// A convolution of single pixels: one product of matrices per client, which takes a card a
  /// fraction of the time that a grouped convolution does.
  at::Tensor mix_channels(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                          std::int64_t stride, double lr) const {
    const at::Tensor seen = every(flow, stride);
    const at::Tensor pixels = seen.permute({0, 2, 3, 1})
                                  .reshape({-1, clients_, weight.size(2)})
                                  .transpose(0, 1);  // [clients, pixels, inputs]
    return multiply_side_by_side(pixels, weight.squeeze(4).squeeze(3), bias, lr)
        .transpose(0, 1)
        .reshape({seen.size(0), seen.size(2), seen.size(3), -1})
        .permute({0, 3, 1, 2});
  }

  /// Every so many pixels, in both directions.
  static at::Tensor every(const at::Tensor& flow, std::int64_t stride) {
    // Even a slice of everything would be copied for the gradient.
    if (stride == 1) return flow;
    return flow.slice(2, 0, flow.size(2), stride).slice(3, 0, flow.size(3), stride);
  }

  /// Clients and their outputs in one dimension.
  static at::Tensor merged(const at::Tensor& parameter) {
    return parameter.defined() ? parameter.flatten(0, 1) : parameter;
  }

  const std::int64_t clients_;
};

}  // namespace

std::unique_ptr<Layers> grouped_layers(std::int64_t clients) {
  return std::make_unique<Grouped>(clients);
}

}  // namespace ebb::fl
