// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/autograd/custom_function.h>

#include "fl/network_shape.h"
#include "fl/torch/layers.h"

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Every window of `kernel` x `kernel` pixels as a column:
/// [clients, channels * kernel * kernel, batch * windows].
at::Tensor columns_of(const at::Tensor& flow, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding) {
  const at::Tensor padded =
      padding == 0 ? flow : at::constant_pad_nd(flow, {padding, padding, padding, padding});
  return padded.unfold(3, kernel, stride)
      .unfold(4, kernel, stride)
      .permute({0, 1, 5, 6, 2, 3, 4})
      .reshape({flow.size(0), flow.size(1) * kernel * kernel, -1});
}

std::int64_t outputs_along(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                           std::int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

class Convolution : public torch::autograd::Function<Convolution> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& flow,
                            const at::Tensor& weight, std::int64_t stride, std::int64_t padding) {
    const at::Tensor columns = columns_of(flow, weight.size(3), stride, padding);
    const bool keeps = static_cast<std::uint64_t>(weight.size(2)) <= kFewInputs;
    context->save_for_backward({keeps ? columns : flow, weight});
    context->saved_data["keeps_columns"] = keeps;
    context->saved_data["sizes"] = flow.sizes().vec();
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["needs_flow"] = flow.requires_grad();
    const std::int64_t kernel = weight.size(3);
    // No view of anything: what follows may write over it.
    at::Tensor result = at::empty({flow.size(0), weight.size(1), flow.size(2),
                                   outputs_along(flow.size(3), kernel, stride, padding),
                                   outputs_along(flow.size(4), kernel, stride, padding)},
                                  flow.options());
    at::Tensor flat = result.flatten(2);
    at::bmm_out(flat, weight.detach().flatten(2), columns);
    return result;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& kept = saved[0];
    const at::Tensor& weight = saved[1];
    const std::int64_t stride = context->saved_data["stride"].toInt();
    const std::int64_t padding = context->saved_data["padding"].toInt();
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor of_weight =
        at::bmm(gradient.flatten(2), (context->saved_data["keeps_columns"].toBool()
                                          ? kept
                                          : columns_of(kept, weight.size(3), stride, padding))
                                         .transpose(1, 2))
            .view_as(weight);
    at::Tensor of_flow;
    // Pictures themselves need no gradient.
    if (context->saved_data["needs_flow"].toBool())
      of_flow = gradient_of_flow(context->saved_data["sizes"].toIntVector(), weight, gradient,
                                 stride, padding);
    return {of_flow, of_weight, at::Tensor(), at::Tensor()};
  }

 private:
  /// What a pixel has in each of the columns that it is in, added up in their order.
  static at::Tensor gradient_of_flow(at::IntArrayRef sizes, const at::Tensor& weight,
                                     const at::Tensor& gradient, std::int64_t stride,
                                     std::int64_t padding) {
    const std::int64_t kernel = weight.size(3);
    const std::int64_t down = gradient.size(3);
    const std::int64_t across = gradient.size(4);
    const at::Tensor columns =
        at::bmm(weight.flatten(2).transpose(1, 2), gradient.flatten(2))
            .view({sizes[0], sizes[1], kernel, kernel, sizes[2], down, across});
    const at::Tensor padded =
        at::zeros({sizes[0], sizes[1], sizes[2], sizes[3] + 2 * padding, sizes[4] + 2 * padding},
                  gradient.options());
    for (std::int64_t y = 0; y < kernel; ++y) {
      for (std::int64_t x = 0; x < kernel; ++x)
        padded.slice(3, y, y + stride * (down - 1) + 1, stride)
            .slice(4, x, x + stride * (across - 1) + 1, stride)
            .add_(columns.select(3, x).select(2, y));
    }
    return padded.narrow(3, padding, sizes[3]).narrow(4, padding, sizes[4]).contiguous();
  }
};

/// What flows is [clients, channels, batch, height, width], as products of matrices give and take
/// it, and [clients, batch, features] from the first linear layer on.
class Columns final : public Layers {
 public:
  at::Tensor enter(const at::Tensor& pictures) const override { return pictures.transpose(1, 2); }

  at::Tensor convolve(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      std::int64_t stride, std::int64_t padding, double /*lr*/) const override {
    const at::Tensor out = Convolution::apply(flow, weight, stride, padding);
    return bias.defined() ? out + per_channel(bias) : out;
  }

  at::Tensor max_pool(const at::Tensor& flow, std::int64_t kernel) const override {
    const at::Tensor pooled = at::max_pool2d(flow.flatten(0, 1), {kernel, kernel});
    return pooled.unflatten(0, {flow.size(0), flow.size(1)});
  }

  at::Tensor average(const at::Tensor& flow) const override { return flow.mean({3, 4}, true); }

  at::Tensor normalise(const at::Tensor& flow, std::int64_t groups, const at::Tensor& scale,
                       const at::Tensor& shift, const at::Tensor& added,
                       bool rectifies) const override {
    const at::Tensor by_sample = flow.transpose(1, 2).contiguous();
    const at::Tensor normal =
        at::group_norm(by_sample.flatten(0, 1), groups).view_as(by_sample).transpose(1, 2);
    return followed(at::addcmul(per_channel(shift), normal, per_channel(scale)), added, rectifies);
  }

  at::Tensor multiply(const at::Tensor& flow, const at::Tensor& weight, const at::Tensor& bias,
                      double lr) const override {
    return multiply_side_by_side(flow.dim() == 5 ? flow.transpose(1, 2).flatten(2) : flow, weight,
                                 bias, lr);
  }

  at::Tensor lay_out(const at::Tensor& mask, const at::Tensor& flow) const override {
    if (flow.dim() != 5) return mask;
    return mask.reshape({flow.size(0), flow.size(2), flow.size(1), flow.size(3), flow.size(4)})
        .transpose(1, 2);
  }

  at::Tensor leave(const at::Tensor& flow) const override { return flow; }

 private:
  static at::Tensor per_channel(const at::Tensor& parameter) {
    return parameter.view({parameter.size(0), parameter.size(1), 1, 1, 1});
  }
};

}  // namespace

std::unique_ptr<Layers> column_layers() {
  return std::make_unique<Columns>();
}

}  // namespace ebb::fl
