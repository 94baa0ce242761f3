// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/one_client.h"
#include "fl/torch/pool.h"

namespace ebb::fl {
namespace {

class Plain final : public OneClient {
 public:
  at::Tensor enter(const at::Tensor& pictures) const override { return pictures.squeeze(0); }
  at::Tensor convolve(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t stride, std::int64_t padding, double /*lr*/) const override {
    return at::conv2d(flow, weight, bias, at::IntArrayRef{stride, stride},
                      at::IntArrayRef{padding, padding});
  }
  at::Tensor max_pool(const at::Tensor& flow, std::int64_t kernel) const override {
    return fl::max_pool(flow, kernel);
  }
  at::Tensor rectified_max_pool(const at::Tensor& flow, std::int64_t kernel) const override {
    return fl::rectified_max_pool(flow, kernel);
  }
  at::Tensor normalise(const at::Tensor& flow, std::int64_t groups, const at::Tensor& scale,
                       const at::Tensor& shift, const at::Tensor& added,
                       bool rectifies) const override {
    return followed(at::group_norm(flow, groups, scale, shift), added, rectifies);
  }
};

}  // namespace

std::unique_ptr<Layers> plain_layers() {
  return std::make_unique<Plain>();
}

}  // namespace ebb::fl
