// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/side_by_side.h"

#include <torch/csrc/autograd/custom_function.h>

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
    context->save_for_backward({flow, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["needs_flow"] = flow.requires_grad();
    const std::int64_t kernel = weight.size(3);
    return at::bmm(weight.flatten(2), columns_of(flow, kernel, stride, padding))
        .view({flow.size(0), weight.size(1), flow.size(2),
               outputs_along(flow.size(3), kernel, stride, padding),
               outputs_along(flow.size(4), kernel, stride, padding)});
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& flow = saved[0];
    const at::Tensor& weight = saved[1];
    const std::int64_t stride = context->saved_data["stride"].toInt();
    const std::int64_t padding = context->saved_data["padding"].toInt();
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor of_weight =
        at::bmm(gradient.flatten(2),
                columns_of(flow, weight.size(3), stride, padding).transpose(1, 2))
            .view_as(weight);
    at::Tensor of_flow;
    // Pictures themselves need no gradient.
    if (context->saved_data["needs_flow"].toBool())
      of_flow = gradient_of_flow(flow, weight, gradient, stride, padding);
    return {of_flow, of_weight, at::Tensor(), at::Tensor()};
  }

 private:
  /// The same convolution backwards: of the gradient, spread out by the stride, with kernels turned
  /// round.
  static at::Tensor gradient_of_flow(const at::Tensor& flow, const at::Tensor& weight,
                                     const at::Tensor& gradient, std::int64_t stride,
                                     std::int64_t padding) {
    const std::int64_t kernel = weight.size(3);
    const std::int64_t height = flow.size(3) + 2 * padding - kernel + 1;
    const std::int64_t width = flow.size(4) + 2 * padding - kernel + 1;
    at::Tensor spread = gradient;
    if (stride > 1) {
      spread = at::zeros({gradient.size(0), gradient.size(1), gradient.size(2), height, width},
                         gradient.options());
      spread.slice(3, 0, height, stride).slice(4, 0, width, stride).copy_(gradient);
    }
    const at::Tensor turned = weight.flip({3, 4}).transpose(1, 2).flatten(2);
    return at::bmm(turned, columns_of(spread, kernel, 1, kernel - 1 - padding)).view_as(flow);
  }
};

}  // namespace

at::Tensor convolve_side_by_side(const at::Tensor& flow, const at::Tensor& weight,
                                 const at::Tensor& bias, std::int64_t stride,
                                 std::int64_t padding) {
  const at::Tensor out = Convolution::apply(flow, weight, stride, padding);
  if (!bias.defined()) return out;
  return out + bias.view({bias.size(0), bias.size(1), 1, 1, 1});
}

at::Tensor normalise_side_by_side(const at::Tensor& flow, std::int64_t groups,
                                  const at::Tensor& scale, const at::Tensor& shift) {
  const std::int64_t clients = flow.size(0);
  const std::int64_t channels = flow.size(1);
  const at::Tensor by_sample = flow.transpose(1, 2).contiguous();
  const at::Tensor normal =
      at::group_norm(by_sample.flatten(0, 1), groups).view_as(by_sample).transpose(1, 2);
  return at::addcmul(shift.view({clients, channels, 1, 1, 1}), normal,
                     scale.view({clients, channels, 1, 1, 1}));
}

at::Tensor multiply_side_by_side(const at::Tensor& flow, const at::Tensor& weight,
                                 const at::Tensor& bias) {
  const at::Tensor turned = weight.transpose(1, 2);
  return bias.defined() ? at::baddbmm(bias.unsqueeze(1), flow, turned) : at::bmm(flow, turned);
}

at::Tensor flattened(const at::Tensor& flow) {
  return flow.transpose(1, 2).flatten(2);
}

}  // namespace ebb::fl
