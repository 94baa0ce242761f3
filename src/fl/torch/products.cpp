// SPDX-License-Identifier: Apache-2.0
// Linear layers of several clients: a product of matrices each.
#include <torch/csrc/autograd/custom_function.h>

#include "fl/torch/layers.h"

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// libtorch's own gradient of a weight comes turned round, and would be copied to be kept.
class Product : public torch::autograd::Function<Product> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& flow,
                            const at::Tensor& weight, const at::Tensor& bias, double lr) {
    context->save_for_backward({flow, weight});
    context->saved_data["lr"] = lr;
    context->saved_data["needs_flow"] = flow.requires_grad();
    context->saved_data["has_bias"] = bias.dim() == 2;
    const at::Tensor turned = weight.detach().transpose(1, 2);
    return bias.dim() == 2 ? at::baddbmm(bias.detach().unsqueeze(1), flow, turned)
                           : at::bmm(flow, turned);
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& flow = saved[0];
    const at::Tensor weight = saved[1].detach();
    const at::Tensor& pull = gradients[0];
    at::Tensor of_flow;
    // Before the weight moves on.
    if (context->saved_data["needs_flow"].toBool()) of_flow = at::bmm(pull, weight);
    const at::Tensor of_bias =
        context->saved_data["has_bias"].toBool() ? pull.sum(1) : at::Tensor();
    const at::Tensor of_weight =
        left_by(pull.transpose(1, 2), flow, weight, context->saved_data["lr"].toDouble());
    return {of_flow, of_weight, of_bias, at::Tensor()};
  }
};

}  // namespace

at::Tensor multiply_side_by_side(const at::Tensor& flow, const at::Tensor& weight,
                                 const at::Tensor& bias, double lr) {
  // A function of libtorch's takes no tensor that is undefined.
  return Product::apply(flow, weight, bias.defined() ? bias : at::empty({0}, flow.options()), lr);
}

at::Tensor left_by(const at::Tensor& pull, const at::Tensor& seen, const at::Tensor& weight,
                   double lr) {
  if (lr == 0) return at::bmm(pull, seen);
  weight.detach().baddbmm_(pull, seen, 1, -lr);
  return {};
}

}  // namespace ebb::fl
