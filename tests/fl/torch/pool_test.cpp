// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pool.h"

#include <limits>

#include "sum/widest.h"

namespace ebb::fl {
namespace {

/// Every case with the widest vectors that this processor has, and without them.
class MaxPool : public testing::TestWithParam<bool> {
 protected:
  MaxPool() { sum::use_wide_vectors(GetParam()); }
  ~MaxPool() override { sum::use_wide_vectors(true); }
};

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

TEST_P(MaxPool, IsWhatLibtorchComputes) {
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

TEST_P(MaxPool, RectifiesInOnePassToTheBitsOfTwo) {
  // In either order: networks that rectify first are computed in the other one on the host.
  std::vector<at::Tensor> given = {at::randn({3, 4, 24, 24}), at::randn({2, 3, 8, 8}),
                                   at::zeros({1, 1, 6, 6}), at::full({1, 1, 6, 6}, -0.0F)};
  for (std::int64_t width = 2; width < 40; ++width)
    given.push_back(at::randint(-3, 4, {2, 3, 2 + width % 5, width}, at::kFloat));
  for (const at::Tensor& pictures : given) {
    const Pooled ours =
        pooled_by(pictures, [](const at::Tensor& x) { return rectified_max_pool(x, 2); });
    const Pooled pooled_first = pooled_by(pictures, [](const at::Tensor& x) {
      return at::max_pool2d(x, {2, 2}).relu();
    });
    const Pooled rectified_first = pooled_by(pictures, [](const at::Tensor& x) {
      return at::max_pool2d(x.relu(), {2, 2});
    });
    for (const Pooled& theirs : {pooled_first, rectified_first}) {
      EXPECT_TRUE(ours.values.equal(theirs.values)) << pictures;
      EXPECT_TRUE(ours.gradient.equal(theirs.gradient)) << pictures;
    }
    EXPECT_TRUE(ours.values.signbit().equal(pooled_first.values.signbit())) << "of zeros, too";
  }
}

TEST_P(MaxPool, IsTheSameWhereNobodyAsksForGradients) {
  for (std::int64_t width = 2; width < 40; ++width) {
    const at::Tensor pictures = at::randint(-3, 4, {2, 3, 2 + width % 5, width}, at::kFloat);
    const at::Tensor asked = pictures.clone().set_requires_grad(true);
    EXPECT_TRUE(max_pool(pictures, 2).equal(max_pool(asked, 2).detach()));
    EXPECT_TRUE(rectified_max_pool(pictures, 2).equal(rectified_max_pool(asked, 2).detach()));
    const at::NoGradGuard guard;
    EXPECT_FALSE(max_pool(asked, 2).requires_grad());
  }
}

TEST_P(MaxPool, PassesOnWhatIsNoNumber) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  for (const std::int64_t windows : {1, 4, 8, 13}) {
    for (std::int64_t at = 0; at < 4; ++at) {
      // Beside what is no number: numbers of both signs and without an end.
      at::Tensor pictures = at::tensor({-kInfinite, kInfinite, -1.0F, 2.0F});
      pictures[at] = kNone;
      pictures = pictures.view({1, 1, 2, 2}).repeat({1, 1, 1, windows});
      const at::Tensor asked = pictures.clone().set_requires_grad(true);
      for (const at::Tensor& given : {pictures, asked}) {
        EXPECT_TRUE(max_pool(given, 2).isnan().all().item<bool>()) << at;
        EXPECT_TRUE(rectified_max_pool(given, 2).isnan().all().item<bool>()) << at;
      }
      const auto pulled = [&](auto pool) {
        return pooled_by(pictures, [&](const at::Tensor& x) { return pool(x); }).gradient;
      };
      EXPECT_TRUE(pulled([](const at::Tensor& x) {
                    return rectified_max_pool(x, 2);
                  }).equal(pulled([](const at::Tensor& x) {
        return at::max_pool2d(x, {2, 2}).relu();
      })));
    }
  }
}

TEST_P(MaxPool, TakesPicturesInAnyLayout) {
  const at::Tensor pictures = at::randn({2, 3, 8, 8}).transpose(2, 3);
  EXPECT_TRUE(max_pool(pictures, 2).equal(at::max_pool2d(pictures, {2, 2})));
}

TEST_P(MaxPool, LeavesOtherKernelsToLibtorch) {
  const at::Tensor pictures = at::randn({2, 3, 9, 9});
  EXPECT_TRUE(max_pool(pictures, 3).equal(at::max_pool2d(pictures, {3, 3})));
  EXPECT_TRUE(rectified_max_pool(pictures, 3).equal(at::max_pool2d(pictures, {3, 3}).relu()));
}

INSTANTIATE_TEST_SUITE_P(Vectors, MaxPool, testing::Bool(),
                         [](const auto& wide) { return wide.param ? "wide" : "narrow"; });

}  // namespace
}  // namespace ebb::fl
