// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/layers.h"

namespace ebb::fl {
namespace {

/// What flows is [batch, clients * channels, height, width], and [clients, batch, features] from
/// the first linear layer on.
class Grouped final : public Layers {
 public:
  explicit Grouped(std::int64_t clients) : clients_(clients) {}

  at::Tensor enter(const at::Tensor& pictures) const override {
    return pictures.transpose(0, 1).flatten(1, 2).contiguous();
  }
  at::Tensor convolve(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t stride, std::int64_t padding) const override {
    // Cards convolve groups faster with channels last, though all has to be turned round for it.
    constexpr auto kLast = at::MemoryFormat::ChannelsLast;
    return at::conv2d(flow.contiguous(kLast), merged(weight).contiguous(kLast), merged(bias),
                      at::IntArrayRef{stride, stride}, at::IntArrayRef{padding, padding},
                      at::IntArrayRef{1, 1}, clients_);
  }
  at::Tensor max_pool(const at::Tensor& flow, std::int64_t kernel) const override {
    return at::max_pool2d(flow, {kernel, kernel});
  }
  at::Tensor average(const at::Tensor& flow) const override {
    return at::adaptive_avg_pool2d(flow, {1, 1});
  }
  at::Tensor normalise(const at::Tensor& flow, std::int64_t groups, const at::Tensor& scale,
                       const at::Tensor& shift) const override {
    return at::group_norm(flow, clients_ * groups, merged(scale), merged(shift));
  }
  at::Tensor multiply(const at::Tensor& flow, const at::Tensor& weight,
                      const at::Tensor& bias) const override {
    const at::Tensor flat =
        flow.dim() == 4 ? flow.reshape({flow.size(0), clients_, -1}).transpose(0, 1) : flow;
    return multiply_side_by_side(flat, weight, bias);
  }
  at::Tensor leave(const at::Tensor& flow) const override { return flow; }

 private:
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
