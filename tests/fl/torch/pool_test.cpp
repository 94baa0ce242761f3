// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pool.h"

#include <limits>

namespace ebb::fl {
namespace {

struct Pooled {
  at::Tensor values;
  at::Tensor gradient;
};

template <class Pool>
Pooled pooled_by(const at::Tensor& pictures, Pool pool) {
  const at::Tensor given = pictures.clone().set_requires_grad(true);
  const at::Tensor values = pool(given);
  const at::Tensor weights = at::arange(values.numel(), at::kFloat).view_as(values);
  (values * weights).sum().backward();
  return {values.detach(), given.grad()};
}

TEST(MaxPool, IsWhatLibtorchComputes) {
  // Odd sizes lose their last row and column; small whole numbers have many equals.
  std::vector<std::vector<std::int64_t>> shapes = {{3, 4, 24, 24}};
  for (std::int64_t width = 2; width < 20; ++width)
    shapes.push_back({2, 1, 2 + width % 5, width});
  for (const std::vector<std::int64_t>& shape : shapes) {
    const at::Tensor pictures = at::randint(0, 4, shape, at::kFloat);
    const Pooled ours = pooled_by(pictures, [](const at::Tensor& x) { return max_pool(x, 2); });
    const Pooled theirs = pooled_by(pictures, [](const at::Tensor& x) {
      return at::max_pool2d(x, {2, 2});
    });
    EXPECT_TRUE(ours.values.equal(theirs.values)) << pictures;
    EXPECT_TRUE(ours.gradient.equal(theirs.gradient)) << pictures;
  }
}

TEST(MaxPool, MayComeBeforeWhatIsNegativeBecomesZero) {
  // Networks that rectify first are computed in the other order on the host: same values, same
  // gradients.
  for (const at::Tensor& pictures :
       {at::randn({3, 4, 24, 24}), at::randint(-3, 4, {2, 3, 10, 14}, at::kFloat)}) {
    const Pooled ours =
        pooled_by(pictures, [](const at::Tensor& x) { return max_pool(x, 2).relu_(); });
    const Pooled theirs = pooled_by(pictures, [](const at::Tensor& x) {
      return at::max_pool2d(x.relu(), {2, 2});
    });
    EXPECT_TRUE(ours.values.equal(theirs.values));
    EXPECT_TRUE(ours.gradient.equal(theirs.gradient));
  }
}

TEST(MaxPool, PassesOnWhatIsNoNumber) {
  for (std::int64_t at = 0; at < 4; ++at) {
    at::Tensor pictures = at::ones({1, 1, 2, 2});
    pictures.flatten()[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(max_pool(pictures, 2).isnan().all().item<bool>()) << at;
  }
}

TEST(MaxPool, TakesPicturesInAnyLayout) {
  const at::Tensor pictures = at::randn({2, 3, 8, 8}).transpose(2, 3);
  EXPECT_TRUE(max_pool(pictures, 2).equal(at::max_pool2d(pictures, {2, 2})));
}

TEST(MaxPool, LeavesOtherKernelsToLibtorch) {
  const at::Tensor pictures = at::randn({2, 3, 9, 9});
  EXPECT_TRUE(max_pool(pictures, 3).equal(at::max_pool2d(pictures, {3, 3})));
}

}  // namespace
}  // namespace ebb::fl
