// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pool.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <bit>
#include <cstring>

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

using Four = float __attribute__((vector_size(16)));
using FourInts = std::int32_t __attribute__((vector_size(16)));
using FourBytes = std::uint8_t __attribute__((vector_size(4)));
constexpr std::int64_t kTogether = 4;

template <typename Value>
Value load(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// NaN counts as larger than every number, so that pooling passes it on.
FourInts is_above(Four one, Four other) {
  return (one > other) | (one != one);
}

Four either(FourInts is_first, Four first, Four second) {
  return std::bit_cast<Four>((is_first & std::bit_cast<FourInts>(first)) |
                             (~is_first & std::bit_cast<FourInts>(second)));
}

/// Which of four pixels is the largest, the first of equals: bit 0 right, bit 1 below. Four times,
/// side by side.
void pool_four(const float* above, const float* below, float* into, std::uint8_t* which) {
  const Four first = load<Four>(above);
  const Four second = load<Four>(above + kTogether);
  const Four third = load<Four>(below);
  const Four fourth = load<Four>(below + kTogether);
  const Four a = __builtin_shufflevector(first, second, 0, 2, 4, 6);
  const Four b = __builtin_shufflevector(first, second, 1, 3, 5, 7);
  const Four c = __builtin_shufflevector(third, fourth, 0, 2, 4, 6);
  const Four d = __builtin_shufflevector(third, fourth, 1, 3, 5, 7);
  const FourInts right_above = is_above(b, a);
  const FourInts right_below = is_above(d, c);
  const Four top = either(right_above, b, a);
  const Four bottom = either(right_below, d, c);
  const FourInts is_below = is_above(bottom, top);
  const Four largest = either(is_below, bottom, top);
  // True is -1.
  const FourInts place = (is_below & (2 - right_below)) | (~is_below & -right_above);
  const FourBytes places = __builtin_convertvector(place, FourBytes);
  std::memcpy(into, &largest, sizeof largest);
  std::memcpy(which, &places, sizeof places);
}

/// `above` and `below` hold 2 * `count` pixels each.
void pool_row(const float* above, const float* below, std::int64_t count, float* into,
              std::uint8_t* which) {
  if (count < kTogether) {
    float pixels[2][2 * kTogether] = {};
    float largest[kTogether];
    std::uint8_t places[kTogether];
    std::copy_n(above, 2 * count, pixels[0]);
    std::copy_n(below, 2 * count, pixels[1]);
    pool_four(pixels[0], pixels[1], largest, places);
    std::copy_n(largest, count, into);
    std::copy_n(places, count, which);
    return;
  }
  for (std::int64_t x = 0; x < count; x += kTogether) {
    // The last ones once more rather than one by one.
    const std::int64_t at = std::min(x, count - kTogether);
    pool_four(above + 2 * at, below + 2 * at, into + at, which + at);
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
