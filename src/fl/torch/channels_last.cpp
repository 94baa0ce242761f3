// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/card_kernels.h"
#include "fl/torch/group_norm.h"
#include "fl/torch/one_client.h"
#include "fl/torch/rectified.h"

namespace ebb::fl {
namespace {

/// With channels last.
class ChannelsLast final : public OneClient, public Rectifier {
 public:
  bool keeps_channels_last() const override { return true; }
  at::Tensor enter(const at::Tensor& pictures) const override {
    return pictures.select(0, 0).contiguous(kLast);
  }
  at::Tensor convolve(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t stride, std::int64_t padding, double /*lr*/) const override {
    return at::conv2d(flow.contiguous(kLast), weight, bias, at::IntArrayRef{stride, stride},
                      at::IntArrayRef{padding, padding});
  }
  const Rectifier* rectifier() const override { return this; }
  at::Tensor rectify(const at::Tensor& flow, const at::Tensor& bias) const override {
    return rectified(flow, bias.unsqueeze(0), CardKernels::of(flow.device()));
  }
  at::Tensor rectify_and_pool(const at::Tensor& flow, const at::Tensor& bias,
                              const at::Tensor& mask, double scale) const override {
    return rectified_and_pooled(flow, bias.unsqueeze(0), mask, scale,
                                CardKernels::of(flow.device()))
        .select(0, 0);
  }
  at::Tensor max_pool(const at::Tensor& flow, std::int64_t kernel) const override {
    return at::max_pool2d(flow, {kernel, kernel});
  }
  at::Tensor normalise(const at::Tensor& flow, std::int64_t groups, const at::Tensor& scale,
                       const at::Tensor& shift, const at::Tensor& added,
                       bool rectifies) const override {
    return normalise_channels_last(flow, groups, scale.unsqueeze(0), shift.unsqueeze(0), added,
                                   rectifies, CardKernels::of(flow.device()));
  }

 private:
  static constexpr auto kLast = at::MemoryFormat::ChannelsLast;
};

}  // namespace

std::unique_ptr<Layers> channels_last_layers() {
  return std::make_unique<ChannelsLast>();
}

}  // namespace ebb::fl
