// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pool.h"

#include <torch/csrc/autograd/custom_function.h>

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// The planes of a batch of pictures; pooling makes one row out of two.
struct Shape {
  explicit Shape(const at::Tensor& pictures)
      : planes(pictures.size(0) * pictures.size(1)),
        height(pictures.size(2)),
        width(pictures.size(3)) {}

  std::int64_t planes;
  std::int64_t height;
  std::int64_t width;
};

/// NaN counts as larger than every number, so that pooling passes it on.
bool is_above(float one, float other) {
  return one > other || one != one;
}

/// Which of four pixels is the largest, the first of equals: bit 0 right, bit 1 below.
void pool_row(const float* above, const float* below, std::int64_t count, float* into,
              std::uint8_t* which) {
  for (std::int64_t x = 0; x < count; ++x) {
    const float a = above[2 * x];
    const float b = above[2 * x + 1];
    const float c = below[2 * x];
    const float d = below[2 * x + 1];
    const bool right_above = is_above(b, a);
    const bool right_below = is_above(d, c);
    const float top = right_above ? b : a;
    const float bottom = right_below ? d : c;
    const bool is_below = is_above(bottom, top);
    into[x] = is_below ? bottom : top;
    which[x] = static_cast<std::uint8_t>(is_below ? 2 + right_below : right_above);
  }
}

class Pool : public torch::autograd::Function<Pool> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given) {
    const at::Tensor pictures = given.contiguous();
    const Shape shape(pictures);
    const std::int64_t rows = shape.height / 2;
    const std::int64_t columns = shape.width / 2;
    at::Tensor pooled =
        at::empty({pictures.size(0), pictures.size(1), rows, columns}, pictures.options());
    at::Tensor which = at::empty(pooled.sizes(), pooled.options().dtype(at::kByte));
    const float* from = pictures.data_ptr<float>();
    float* into = pooled.data_ptr<float>();
    std::uint8_t* chosen = which.data_ptr<std::uint8_t>();
    for (std::int64_t plane = 0; plane < shape.planes; ++plane) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* above = from + (plane * shape.height + 2 * row) * shape.width;
        pool_row(above, above + shape.width, columns, into, chosen);
        into += columns;
        chosen += columns;
      }
    }
    context->save_for_backward({which});
    context->saved_data["height"] = shape.height;
    context->saved_data["width"] = shape.width;
    return pooled;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor which = context->get_saved_variables()[0];
    const std::int64_t height = context->saved_data["height"].toInt();
    const std::int64_t width = context->saved_data["width"].toInt();
    at::Tensor spread =
        at::zeros({gradient.size(0), gradient.size(1), height, width}, gradient.options());
    const Shape pooled(gradient);
    const float* from = gradient.data_ptr<float>();
    const std::uint8_t* chosen = which.data_ptr<std::uint8_t>();
    float* into = spread.data_ptr<float>();
    for (std::int64_t plane = 0; plane < pooled.planes; ++plane) {
      for (std::int64_t row = 0; row < pooled.height; ++row) {
        float* above = into + (plane * height + 2 * row) * width;
        for (std::int64_t x = 0; x < pooled.width; ++x)
          above[(chosen[x] >> 1) * width + 2 * x + (chosen[x] & 1)] = from[x];
        from += pooled.width;
        chosen += pooled.width;
      }
    }
    return {spread};
  }
};

}  // namespace

at::Tensor max_pool(const at::Tensor& pictures, std::int64_t kernel) {
  if (kernel != 2 || !pictures.device().is_cpu() || pictures.scalar_type() != at::kFloat)
    return at::max_pool2d(pictures, {kernel, kernel});
  return Pool::apply(pictures);
}

}  // namespace ebb::fl
