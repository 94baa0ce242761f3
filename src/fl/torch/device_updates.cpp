// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/device_updates.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/check.h"
#include "fl/card_use.h"
#include "fl/in_parts.h"
#include "fl/select/selector.h"
#include "fl/torch/card_kernels.h"
#include "fl/torch/failures.h"
#include "fl/torch/projection.h"

namespace ebb::fl {
namespace {

/// Sums that come to the host at a time.
constexpr std::int64_t kSumsOnTheirWay = std::int64_t{kSumsOnTheirWayBytes / sizeof(std::int64_t)};

constexpr std::int64_t kSlice = kParametersAtATime;

constexpr std::int64_t kThreadsOfABlock = 256;

std::int64_t blocks_for(std::int64_t threads) {
  return (threads + kThreadsOfABlock - 1) / kThreadsOfABlock;
}

bool has_channels_last(const at::Tensor& models) {
  return models.dim() == 5 && !models.is_contiguous() &&
         models.permute({0, 1, 3, 4, 2}).is_contiguous();
}

/// Of weights that have their channels last: how many, and pixels of a window; else one of each.
std::int64_t channels_of(const at::Tensor& models) {
  return models.dim() == 5 ? models.size(2) : 1;
}
std::int64_t pixels_of(const at::Tensor& models) {
  return models.dim() == 5 ? models.size(3) * models.size(4) : 1;
}

/// A card writes into pinned memory by itself, several times as fast.
at::Tensor on_host(std::int64_t count, at::ScalarType type, at::Device device) {
  return at::empty({count}, at::TensorOptions().dtype(type).pinned_memory(device.is_cuda()));
}

/// The sum of each row, by halves: additions of single elements in an order that only the length
/// decides. `rows` is written to.
at::Tensor sum_by_halves(at::Tensor rows) {
  while (rows.size(1) > 1) {
    const std::int64_t count = rows.size(1);
    const std::int64_t half = count / 2;
    rows.narrow(1, 0, half).add_(rows.narrow(1, count - half, half));
    rows = rows.narrow(1, 0, count - half);
  }
  return rows.squeeze(1);
}

}  // namespace

DeviceUpdates::DeviceUpdates(std::int64_t clients, const std::vector<at::Tensor>& from,
                             const std::vector<at::Tensor>& to)
    : clients_(clients) {
  const at::NoGradGuard guard;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from_.push_back(from[i].detach().flatten());
    to_.push_back(has_channels_last(to[i]) && CardKernels::of(to[i].device()) != nullptr
                      ? to[i].detach()
                      : to[i].detach().reshape({clients_, -1}));
    parameters_ += from_.back().size(0);
  }
  measure();
}

void DeviceUpdates::each_slice(const Visit& visit) const {
  std::size_t tensor = 0;
  std::int64_t offset = 0;  // in that tensor
  at::Tensor rows;          // that tensor's
  for (std::int64_t first = 0; first < parameters_; first += kSlice) {
    std::vector<at::Tensor> before;
    std::vector<at::Tensor> after;
    for (std::int64_t open = std::min(kSlice, parameters_ - first); open > 0;) {
      const std::int64_t taken = std::min(open, from_[tensor].size(0) - offset);
      if (offset == 0) rows = to_[tensor].reshape({clients_, -1});
      before.push_back(from_[tensor].narrow(0, offset, taken));
      after.push_back(rows.narrow(1, offset, taken));
      open -= taken;
      offset += taken;
      if (offset < from_[tensor].size(0)) continue;
      ++tensor;
      offset = 0;
    }
    visit(first, at::cat(after, 1).to(at::kDouble).sub_(at::cat(before).to(at::kDouble)));
  }
}

void DeviceUpdates::measure() {
  const auto options = to_.front().options().dtype(at::kDouble);
  const std::int64_t slice = std::min(kSlice, parameters_);
  at::Tensor squares = at::zeros({clients_, slice}, options);
  at::Tensor largest;
  if (const CardKernels* kernels = CardKernels::of(to_.front().device())) {
    const at::Tensor bits = at::zeros({clients_}, options.dtype(at::kLong));
    std::int64_t first = 0;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const std::int64_t elements = from_[i].size(0);
      kernels->run(CardKernels::Name::measure_moves,
                   {blocks_for(std::min(elements, slice)), clients_}, {kThreadsOfABlock, 1},
                   {from_[i], to_[i], squares, bits, first, elements, slice, channels_of(to_[i]),
                    pixels_of(to_[i])});
      first += elements;
    }
    largest = bits.view(at::kDouble);
  } else {
    largest = at::zeros({clients_}, options);
    each_slice([&](std::int64_t, at::Tensor moves) {
      moves.abs_();
      largest = at::maximum(largest, moves.amax(1));
      squares.narrow(1, 0, moves.size(1)).add_(moves.mul_(moves));
    });
  }
  // To the host in one go.
  const at::Tensor found = at::stack({sum_by_halves(squares), largest}).cpu();
  const double* values = found.data_ptr<double>();
  for (std::int64_t client = 0; client < clients_; ++client) {
    norms_.push_back(std::sqrt(values[client]));
    largest_.push_back(values[clients_ + client]);
  }
}

at::Tensor DeviceUpdates::sketched() const {
  const auto options = to_.front().options().dtype(at::kDouble);
  at::Tensor sums = at::zeros({clients_, static_cast<std::int64_t>(kSketchLength)}, options);
  each_slice([&](std::int64_t first, const at::Tensor& moves) {
    for (std::int64_t at = 0; at < moves.size(1); at += kProjectedAtATime) {
      const std::int64_t count = std::min(kProjectedAtATime, moves.size(1) - at);
      sums.add_(at::mm(moves.narrow(1, at, count), projection(first + at, count, sums.device())));
    }
  });
  return sums.to(at::kFloat).cpu();
}

base::Result<std::vector<float>> DeviceUpdates::sketch(std::size_t place) {
  return without_exceptions([&]() -> base::Result<std::vector<float>> {
    const at::NoGradGuard guard;
    if (!sketches_.defined()) sketches_ = sketched();
    const float* values = sketches_.data_ptr<float>() + place * kSketchLength;
    return std::vector<float>(values, values + kSketchLength);
  });
}

base::Result<std::span<const float>> DeviceUpdates::fetch(std::size_t place) {
  return without_exceptions([&]() -> base::Result<std::span<const float>> {
    const at::NoGradGuard guard;
    std::vector<at::Tensor> mine;
    for (const at::Tensor& parameter : to_)
      mine.push_back(parameter[static_cast<std::int64_t>(place)].flatten());
    if (!row_.defined()) row_ = on_host(parameters_, at::kFloat, to_.front().device());
    row_.copy_(at::cat(mine));  // a card makes one row of them sooner than it sends each
    return std::span<const float>(row_.data_ptr<float>(), static_cast<std::size_t>(parameters_));
  });
}

at::Tensor DeviceUpdates::summed(std::span<const double> scales) const {
  const at::Device device = to_.front().device();
  const at::Tensor each =
      at::from_blob(const_cast<double*>(scales.data()), {clients_, 1}, at::kDouble).to(device);
  at::Tensor sums = at::empty({parameters_}, at::TensorOptions().dtype(at::kLong).device(device));
  if (const CardKernels* kernels = CardKernels::of(device)) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const std::int64_t elements = from_[i].size(0);
      kernels->run(CardKernels::Name::add_moves, {blocks_for(elements)}, {kThreadsOfABlock, 1},
                   {from_[i], to_[i], each, sums.narrow(0, first, elements), elements, clients_,
                    channels_of(to_[i]), pixels_of(to_[i])});
      first += elements;
    }
    return sums;
  }
  each_slice([&](std::int64_t first, at::Tensor moves) {
    const std::int64_t count = moves.size(1);
    sums.narrow(0, first, count).copy_(moves.mul_(each).round_().to(at::kLong).sum(0));
  });
  return sums;
}

base::Result<std::unique_ptr<SumsThere>> DeviceUpdates::sum_up(std::span<const double> scales) {
  EBB_CHECK(scales.size() == size());
  if (std::all_of(scales.begin(), scales.end(), [](double scale) { return scale == 0; }))
    return std::unique_ptr<SumsThere>();
  return without_exceptions([&]() -> base::Result<std::unique_ptr<SumsThere>> {
    const at::NoGradGuard guard;
    return std::unique_ptr<SumsThere>(std::make_unique<DeviceSums>(summed(scales), at::cat(from_)));
  });
}

base::Status DeviceSums::add_to(std::span<std::int64_t> sums) {
  const std::int64_t parameters = sums_.size(0);
  EBB_CHECK(sums.size() == static_cast<std::size_t>(parameters));
  return without_exceptions([&]() -> base::Status {
    const at::NoGradGuard guard;
    const at::Tensor way =
        on_host(std::min(kSumsOnTheirWay, parameters), at::kLong, sums_.device());
    // All that needs memory is done.
    for (std::int64_t first = 0; first < parameters; first += kSumsOnTheirWay) {
      const std::int64_t count = std::min(kSumsOnTheirWay, parameters - first);
      way.narrow(0, 0, count).copy_(sums_.narrow(0, first, count));
      const std::int64_t* values = way.data_ptr<std::int64_t>();
      std::int64_t* into = sums.data() + first;
      in_parts(static_cast<std::size_t>(count), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          into[i] += values[i];
      });
    }
    return {};
  });
}

base::Status DeviceSums::move(std::span<float> weights, double unit, double divisor, double rate) {
  EBB_CHECK(weights.size() == static_cast<std::size_t>(sums_.size(0)));
  return without_exceptions([&]() -> base::Status {
    const at::NoGradGuard guard;
    // By a tensor: a card multiplies by the inverse of a number.
    const at::Tensor by = at::full({1}, divisor, sums_.options().dtype(at::kDouble));
    const at::Tensor moved = sums_.to(at::kDouble)
                                 .mul_(unit)
                                 .div_(by)
                                 .mul_(rate)
                                 .add_(from_.to(at::kDouble))
                                 .to(at::kFloat);
    at::from_blob(weights.data(), {sums_.size(0)}, at::kFloat).copy_(moved);
    return {};
  });
}

}  // namespace ebb::fl
