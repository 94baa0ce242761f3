// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pool.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "fl/torch/pool_rows.h"

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct Pooled {
  at::Tensor values;
  at::Tensor which;  ///< as pool_planes has it; undefined where nobody asks
};

Planes planes_of(const at::Tensor& pictures) {
  return {pictures.size(0) * pictures.size(1), pictures.size(2), pictures.size(3)};
}

Pooled pooled(const at::Tensor& given, bool rectifies, bool asks) {
  const at::Tensor pictures = given.contiguous();
  Pooled out;
  out.values =
      at::empty({pictures.size(0), pictures.size(1), pictures.size(2) / 2, pictures.size(3) / 2},
                pictures.options());
  if (asks) out.which = at::empty(out.values.sizes(), pictures.options().dtype(at::kByte));
  pool_planes(planes_of(pictures), pictures.data_ptr<float>(), rectifies,
              out.values.data_ptr<float>(), asks ? out.which.data_ptr<std::uint8_t>() : nullptr);
  return out;
}

class Pool : public torch::autograd::Function<Pool> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& pictures, bool rectifies) {
    const Pooled out = pooled(pictures, rectifies, true);
    context->save_for_backward({out.which});
    context->saved_data["height"] = pictures.size(2);
    context->saved_data["width"] = pictures.size(3);
    return out.values;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor which = context->get_saved_variables()[0];
    const std::int64_t height = context->saved_data["height"].toInt();
    const std::int64_t width = context->saved_data["width"].toInt();
    const std::array<std::int64_t, 4> sizes = {gradient.size(0), gradient.size(1), height, width};
    // Pixels of no window get nothing.
    const at::Tensor spread = height % 2 == 0 && width % 2 == 0
                                  ? at::empty(sizes, gradient.options())
                                  : at::zeros(sizes, gradient.options());
    spread_planes(planes_of(spread), gradient.data_ptr<float>(), which.data_ptr<std::uint8_t>(),
                  spread.data_ptr<float>());
    return {spread, at::Tensor()};
  }
};

bool applies(const at::Tensor& pictures, std::int64_t kernel) {
  return kernel == 2 && pictures.device().is_cpu() && pictures.scalar_type() == at::kFloat;
}

at::Tensor by_loops(const at::Tensor& pictures, bool rectifies) {
  if (!at::GradMode::is_enabled() || !pictures.requires_grad())
    return pooled(pictures, rectifies, false).values;
  return Pool::apply(pictures, rectifies);
}

}  // namespace

at::Tensor max_pool(const at::Tensor& pictures, std::int64_t kernel) {
  return applies(pictures, kernel) ? by_loops(pictures, false)
                                   : at::max_pool2d(pictures, {kernel, kernel});
}

at::Tensor rectified_max_pool(const at::Tensor& pictures, std::int64_t kernel) {
  return applies(pictures, kernel) ? by_loops(pictures, true)
                                   : at::max_pool2d(pictures, {kernel, kernel}).relu_();
}

std::optional<std::int64_t> rectified_pool(std::span<const plan::NetworkLayer> layers) {
  using Kind = plan::NetworkLayer::Kind;
  if (layers.size() < 2) return std::nullopt;
  const bool rectifies_first = layers[0].kind == Kind::relu;
  const plan::NetworkLayer& pool = layers[rectifies_first ? 1 : 0];
  const plan::NetworkLayer& relu = layers[rectifies_first ? 0 : 1];
  if (pool.kind != Kind::max_pool || relu.kind != Kind::relu) return std::nullopt;
  return static_cast<std::int64_t>(pool.kernel);
}

}  // namespace ebb::fl
