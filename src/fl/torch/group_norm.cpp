// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/group_norm.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

namespace ebb::fl {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

constexpr double kEpsilon = 1e-5;  // PyTorch's own
/// Rows whose sums are made side by side.
constexpr std::int64_t kSideBySide = 32;
constexpr std::int64_t kThreads = 256;
/// A card takes no more.
constexpr std::int64_t kMostBlocksDown = 65535;

/// A flow seen as [samples, rows, channels], without a copy.
at::Tensor rows_of(const at::Tensor& flow) {
  return flow.permute({0, 2, 3, 1}).flatten(1, 2);
}

at::Tensor flow_of(const at::Tensor& rows, const at::Tensor& like) {
  return rows.view({like.size(0), like.size(2), like.size(3), like.size(1)}).permute({0, 3, 1, 2});
}

/// The sum over the rows of [samples, rows, channels], in the order in which the kernels have it.
class ColumnSum {
 public:
  void add(const at::Tensor& some) {
    if (!parts_.defined()) parts_ = at::zeros_like(some);
    parts_.narrow(1, 0, some.size(1)).add_(some);
  }
  at::Tensor sum() const {
    at::Tensor sum = parts_.select(1, 0).clone();
    for (std::int64_t i = 1; i < parts_.size(1); ++i)
      sum.add_(parts_.select(1, i));
    return sum;
  }

 private:
  at::Tensor parts_;
};

at::Tensor passed(const at::Tensor& pull, const at::Tensor& result) {
  return result.defined() ? at::where(result <= 0, at::zeros({}, pull.options()), pull) : pull;
}

/// What is done to the values themselves: by kernels where there are any and lanes of four channels
/// fit, else by libtorch, one rounding at a time. Tensors that flow are [samples, rows, channels];
/// others [samples, channels].
class Passes {
 public:
  Passes(const CardKernels* kernels, const at::Tensor& rows)
      : kernels_(rows.size(2) % 4 == 0 && rows.size(0) <= kMostBlocksDown ? kernels : nullptr),
        samples_(rows.size(0)),
        rows_(rows.size(1)),
        channels_(rows.size(2)),
        options_(rows.options()) {}

  struct Sums {
    at::Tensor first;
    at::Tensor second;
  };

  /// Of what there is beyond the first row, and of its squares.
  Sums sums(const at::Tensor& x) const {
    if (kernels_ != nullptr) {
      const Sums made = empty_sums();
      kernels_->run(CardKernels::Name::column_sums, columns(), threads(),
                    {x, made.first, made.second, rows_, channels_ / 4});
      return made;
    }
    ColumnSum sum;
    ColumnSum squares;
    const at::Tensor first = x.narrow(1, 0, 1);
    each_part([&](std::int64_t from, std::int64_t count) {
      const at::Tensor beyond = x.narrow(1, from, count) - first;
      sum.add(beyond);
      squares.add(beyond * beyond);
    });
    return {sum.sum(), squares.sum()};
  }

  /// Of the gradient that passes, and of its products with what x has beyond `mean`.
  Sums products(const at::Tensor& pull, const at::Tensor& result, const at::Tensor& x,
                const at::Tensor& mean) const {
    if (kernels_ != nullptr) {
      const Sums made = empty_sums();
      kernels_->run(CardKernels::Name::column_products, columns(), threads(),
                    {pull, result, x, mean, made.first, made.second, rows_, channels_ / 4});
      return made;
    }
    ColumnSum sum;
    ColumnSum products;
    const at::Tensor passes = passed(pull, result);
    const at::Tensor middle = mean.unsqueeze(1);
    each_part([&](std::int64_t from, std::int64_t count) {
      const at::Tensor some = passes.narrow(1, from, count);
      sum.add(some);
      products.add(some * (x.narrow(1, from, count) - middle));
    });
    return {sum.sum(), products.sum()};
  }

  at::Tensor normalise(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& scale,
                       const at::Tensor& shift, const at::Tensor& added, bool rectifies) const {
    if (kernels_ != nullptr) {
      at::Tensor result = at::empty(x.sizes(), options_);
      kernels_->run(CardKernels::Name::normalise, lanes(), {kThreads, 1},
                    {x, mean, scale, shift, added, result, rows_, channels_ / 4, lane_count(),
                     std::int64_t{rectifies}});
      return result;
    }
    at::Tensor result = x - mean.unsqueeze(1);
    result.mul_(scale.unsqueeze(1)).add_(shift);
    if (added.defined()) result.add_(added);
    if (rectifies) result.masked_fill_(result <= 0, 0);
    return result;
  }

  /// The gradient of x, and that of what was added where `adds`.
  std::pair<at::Tensor, at::Tensor> back(const at::Tensor& pull, const at::Tensor& result,
                                         const at::Tensor& x, const at::Tensor& mean,
                                         const at::Tensor& scale, const at::Tensor& slope,
                                         const at::Tensor& offset, bool adds) const {
    if (kernels_ != nullptr) {
      at::Tensor gradient = at::empty(x.sizes(), options_);
      at::Tensor passes = adds ? at::empty(x.sizes(), options_) : at::Tensor();
      kernels_->run(CardKernels::Name::normalise_back, lanes(), {kThreads, 1},
                    {pull, result, x, mean, scale, slope, offset, gradient, passes, rows_,
                     channels_ / 4, lane_count()});
      return {gradient, passes};
    }
    const at::Tensor passes = passed(pull, result);
    at::Tensor gradient = passes * scale.unsqueeze(1);
    gradient.add_((x - mean.unsqueeze(1)).mul_(slope.unsqueeze(1))).add_(offset.unsqueeze(1));
    return {gradient, adds ? passes : at::Tensor()};
  }

 private:
  template <class Visit>
  void each_part(Visit visit) const {
    for (std::int64_t from = 0; from < rows_; from += kSideBySide)
      visit(from, std::min(kSideBySide, rows_ - from));
  }
  Sums empty_sums() const {
    return {at::empty({samples_, channels_}, options_), at::empty({samples_, channels_}, options_)};
  }
  CardKernels::Size columns() const { return {(channels_ / 4 + 31) / 32, samples_}; }
  CardKernels::Size threads() const { return {32, std::min(kSideBySide, rows_)}; }
  std::int64_t lane_count() const { return samples_ * rows_ * channels_ / 4; }
  CardKernels::Size lanes() const { return {(lane_count() + kThreads - 1) / kThreads, 1}; }

  const CardKernels* kernels_;
  const std::int64_t samples_;
  const std::int64_t rows_;
  const std::int64_t channels_;
  const at::TensorOptions options_;
};

class Norm : public torch::autograd::Function<Norm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& given,
                            const at::Tensor& scale, const at::Tensor& shift,
                            const at::Tensor& added, std::int64_t groups, bool rectifies,
                            const CardKernels* kernels) {
    const at::Tensor flow = given.contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor x = rows_of(flow);
    const Passes passes(kernels, x);
    const std::int64_t together = scale.size(0) * groups;
    const auto by_group = [&](const at::Tensor& each) {
      return each.view({each.size(0), together, -1});
    };
    const auto by_channel = [&](const at::Tensor& each) { return each.flatten(1).contiguous(); };
    // Of each channel first, about a value of its own, so that nothing cancels out.
    const Passes::Sums sums = passes.sums(x);
    const at::Tensor beyond = sums.first.div(x.size(1));
    const at::Tensor means = by_group(beyond + x.select(1, 0));
    const at::Tensor variances = by_group(sums.second.div(x.size(1)) - beyond * beyond);
    const at::Tensor mean = means.mean(2, true);
    const at::Tensor apart = means - mean;
    const at::Tensor variance = (variances + apart * apart).mean(2, true).clamp_min(0);
    const at::Tensor inverse = (variance + kEpsilon).rsqrt();
    const at::Tensor middle = by_channel(mean.expand_as(means));
    const at::Tensor times =
        by_channel(inverse * scale.detach().view({1, together, means.size(2)}));
    const bool adds = added.dim() == 4;
    const at::Tensor more =
        adds ? rows_of(added.contiguous(at::MemoryFormat::ChannelsLast)) : at::Tensor();
    const at::Tensor result = flow_of(
        passes.normalise(x, middle, times, shift.detach().flatten(), more, rectifies), flow);
    context->save_for_backward(
        {flow, scale, middle, times, inverse, rectifies ? result : at::Tensor()});
    context->saved_data["groups"] = groups;
    context->saved_data["adds"] = adds;
    context->saved_data["kernels"] = reinterpret_cast<std::int64_t>(kernels);
    return result;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& flow = saved[0];
    const at::Tensor& scale = saved[1];
    const at::Tensor& middle = saved[2];
    const at::Tensor& times = saved[3];
    const at::Tensor& inverse = saved[4];  // [samples, clients * groups, 1]
    const auto* kernels =
        reinterpret_cast<const CardKernels*>(context->saved_data["kernels"].toInt());
    const at::Tensor x = rows_of(flow);
    const at::Tensor result = saved[5].defined() ? rows_of(saved[5]) : at::Tensor();
    const at::Tensor pull = rows_of(gradients[0].contiguous(at::MemoryFormat::ChannelsLast));
    const Passes passes(kernels, x);
    const std::int64_t together = scale.size(0) * context->saved_data["groups"].toInt();
    const auto by_group = [&](const at::Tensor& each) {
      return each.view({each.size(0), together, -1});
    };
    const Passes::Sums sums = passes.products(pull, result, x, middle);
    const at::Tensor weight = scale.detach().view({1, together, -1});
    const at::Tensor products = by_group(sums.second);
    const at::Tensor of_shift = sums.first.sum(0).view_as(scale);
    const at::Tensor of_scale = (products * inverse).sum(0).view_as(scale);
    const auto count = static_cast<double>(x.size(1) * products.size(2));
    const at::Tensor slope = (weight * products).sum(2, true) * inverse.pow(3) / -count;
    const at::Tensor offset = (weight * by_group(sums.first)).sum(2, true) * inverse / -count;
    const auto [gradient, passes_on] =
        passes.back(pull, result, x, middle, times, spread(slope, products),
                    spread(offset, products), context->saved_data["adds"].toBool());
    return {flow_of(gradient, flow),
            of_scale,
            of_shift,
            passes_on.defined() ? flow_of(passes_on, flow) : at::Tensor(),
            at::Tensor(),
            at::Tensor(),
            at::Tensor()};
  }

 private:
  /// What holds for a group, for each of its channels.
  static at::Tensor spread(const at::Tensor& each, const at::Tensor& like) {
    return each.expand_as(like).flatten(1).contiguous();
  }
};

}  // namespace

at::Tensor normalise_channels_last(const at::Tensor& flow, std::int64_t groups,
                                   const at::Tensor& scale, const at::Tensor& shift,
                                   const at::Tensor& added, bool rectifies,
                                   const CardKernels* kernels) {
  // A function of libtorch's takes no tensor that is undefined.
  return Norm::apply(flow, scale, shift, added.defined() ? added : at::empty({0}, flow.options()),
                     groups, rectifies, kernels);
}

}  // namespace ebb::fl
