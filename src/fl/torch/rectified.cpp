// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/rectified.h"

#include <torch/csrc/autograd/custom_function.h>

#include <bit>
#include <vector>

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr auto kLast = at::MemoryFormat::ChannelsLast;

at::Tensor biased(const at::Tensor& flow, const at::Tensor& bias) {
  return flow + bias.reshape({1, -1, 1, 1});
}

class Rectified : public torch::autograd::Function<Rectified> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& bias, const CardKernels* kernels) {
    const at::Tensor result = of(given.contiguous(kLast), bias.detach(), kernels);
    context->save_for_backward({result});
    context->saved_data["clients"] = bias.size(0);
    return result;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const at::Tensor result = context->get_saved_variables()[0];
    const at::Tensor passes = at::threshold_backward(gradients[0].contiguous(kLast), result, 0);
    const at::Tensor of_bias =
        passes.sum({0, 2, 3}).view({context->saved_data["clients"].toInt(), -1});
    return {passes, of_bias, at::Tensor()};
  }

 private:
  static constexpr std::int64_t kThreads = 256;

  static at::Tensor of(const at::Tensor& flow, const at::Tensor& bias, const CardKernels* kernels) {
    if (kernels == nullptr || flow.size(1) % 4 != 0) return biased(flow, bias).relu_();
    const at::Tensor result = at::empty_like(flow);
    const std::int64_t count = flow.numel() / 4;
    kernels->run(CardKernels::Name::rectify, {(count + kThreads - 1) / kThreads}, {kThreads},
                 {flow, bias, result, flow.size(1) / 4, count});
    return result;
  }
};

/// How four pixels become one, and what the one pulls at back to the four.
class Pooling {
 public:
  /// `sizes`: of the flow.
  Pooling(at::IntArrayRef sizes, std::int64_t clients, double scale, const CardKernels* kernels)
      : kernels_(kernels),
        clients_(clients),
        channels_(sizes[1] / clients),
        batch_(sizes[0]),
        height_(sizes[2]),
        width_(sizes[3]),
        scale_(static_cast<float>(scale)) {}

  struct Pooled {
    at::Tensor values;  ///< [clients, batch, features]
    at::Tensor which;   ///< of four pixels each is, or 4 where it is none: a byte, as the values
  };
  Pooled forward(const at::Tensor& flow, const at::Tensor& bias, const at::Tensor& mask) const {
    if (kernels_ == nullptr) return forward_by_operations(flow, bias, mask);
    Pooled pooled = {at::empty({clients_, batch_, features()}, flow.options()), {}};
    pooled.which = at::empty(pooled.values.sizes(), flow.options().dtype(at::kByte));
    kernels_->run(CardKernels::Name::rectify_and_pool, tiles(), {32, 8},
                  {flow, bias, mask, pooled.values, pooled.which, bits_of_scale(), batch_, clients_,
                   channels_, height_, width_});
    return pooled;
  }

  struct Pull {
    at::Tensor flow;    ///< the gradient of the flow
    at::Tensor passes;  ///< [clients, batch, features]: that of each four together
  };
  Pull backward(const at::Tensor& pull, const at::Tensor& which) const {
    if (kernels_ == nullptr) return backward_by_operations(pull, which);
    const at::TensorOptions options = pull.options().memory_format(kLast);
    // A last row or column that is alone pulls at nothing.
    const bool is_even = height_ % 2 == 0 && width_ % 2 == 0;
    Pull back = {at::empty({batch_, clients_ * channels_, height_, width_}, options),
                 at::empty_like(pull)};
    if (!is_even) back.flow.zero_();
    kernels_->run(CardKernels::Name::rectify_and_pool_back, tiles(), {32, 8},
                  {pull, which, back.flow, back.passes, bits_of_scale(), batch_, clients_,
                   channels_, height_, width_});
    return back;
  }

 private:
  Pooled forward_by_operations(const at::Tensor& flow, const at::Tensor& bias,
                               const at::Tensor& mask) const {
    const auto [largest, places] = at::max_pool2d_with_indices(biased(flow, bias).relu_(), {2, 2});
    const at::Tensor rows = at::div(places, width_, "floor");
    const at::Tensor which = rows.remainder(2).mul_(2).add_((places - rows * width_).remainder(2));
    Pooled pooled = {by_client(largest), by_client(which).to(at::kByte)};
    at::Tensor none = pooled.values.eq(0);
    if (mask.defined()) none.logical_or_(mask.logical_not());
    pooled.which.masked_fill_(none, kNone);
    pooled.values.mul_(scale_).masked_fill_(none, 0);
    return pooled;
  }

  Pull backward_by_operations(const at::Tensor& pull, const at::Tensor& which) const {
    Pull back;
    back.passes = pull.mul(scale_).masked_fill_(which.eq(kNone), 0);
    const at::Tensor spread =
        at::zeros({batch_, height_, width_, clients_, channels_}, pull.options());
    const std::int64_t rows = height_ / 2;
    const std::int64_t columns = width_ / 2;
    for (std::int64_t place = 0; place < kNone; ++place) {
      spread.slice(1, place / 2, 2 * rows, 2)
          .slice(2, place % 2, 2 * columns, 2)
          .copy_(back.passes.masked_fill(which.ne(place), 0)
                     .view({clients_, batch_, channels_, rows, columns})
                     .permute({1, 3, 4, 0, 2}));
    }
    back.flow = spread.flatten(3).permute({0, 3, 1, 2});
    return back;
  }

  static constexpr std::int64_t kNone = 4;

  /// [batch, clients * channels, rows, columns] as [clients, batch, features], a copy.
  at::Tensor by_client(const at::Tensor& pooled) const {
    return pooled.reshape({batch_, clients_, features()})
        .transpose(0, 1)
        .clone(at::MemoryFormat::Contiguous);
  }
  std::int64_t pixels() const { return (height_ / 2) * (width_ / 2); }
  std::int64_t features() const { return channels_ * pixels(); }
  CardKernels::Size tiles() const {
    return {(pixels() + 31) / 32 * batch_ * clients_, (channels_ + 31) / 32};
  }
  std::int64_t bits_of_scale() const { return std::bit_cast<std::int32_t>(scale_); }

  const CardKernels* kernels_;
  const std::int64_t clients_;
  const std::int64_t channels_;
  const std::int64_t batch_;
  const std::int64_t height_;
  const std::int64_t width_;
  const float scale_;
};

class RectifiedAndPooled : public torch::autograd::Function<RectifiedAndPooled> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& bias, const at::Tensor& mask, double scale,
                            const CardKernels* kernels) {
    const at::Tensor flow = given.contiguous(kLast);
    const Pooling pooling(flow.sizes(), bias.size(0), scale, kernels);
    const auto pooled =
        pooling.forward(flow, bias.detach(), mask.numel() > 0 ? mask.contiguous() : at::Tensor());
    context->save_for_backward({pooled.which});
    context->saved_data["sizes"] = flow.sizes().vec();
    context->saved_data["clients"] = bias.size(0);
    context->saved_data["scale"] = scale;
    context->saved_data["kernels"] = reinterpret_cast<std::int64_t>(kernels);
    return pooled.values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const std::int64_t clients = context->saved_data["clients"].toInt();
    const Pooling pooling(
        sizes, clients, context->saved_data["scale"].toDouble(),
        reinterpret_cast<const CardKernels*>(context->saved_data["kernels"].toInt()));
    const auto back =
        pooling.backward(gradients[0].contiguous(), context->get_saved_variables()[0]);
    const at::Tensor of_bias =
        back.passes.view({clients, sizes[0], sizes[1] / clients, -1}).sum({1, 3});
    return {back.flow, of_bias, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor rectified(const at::Tensor& flow, const at::Tensor& bias, const CardKernels* kernels) {
  return Rectified::apply(flow, bias, kernels);
}

at::Tensor rectified_and_pooled(const at::Tensor& flow, const at::Tensor& bias,
                                const at::Tensor& mask, double scale, const CardKernels* kernels) {
  // A function of libtorch's takes no tensor that is undefined.
  return RectifiedAndPooled::apply(
      flow, bias, mask.defined() ? mask : at::empty({0}, flow.options().dtype(at::kBool)), scale,
      kernels);
}

}  // namespace ebb::fl
