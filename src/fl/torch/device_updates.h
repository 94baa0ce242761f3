// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fl/aggregate/update_group.h"

namespace ebb::fl {

/// Sums on a device, and the model [parameters] that the updates started from.
class DeviceSums final : public SumsThere {
 public:
  DeviceSums(at::Tensor sums, at::Tensor from) : sums_(std::move(sums)), from_(std::move(from)) {}

  base::Status add_to(std::span<std::int64_t> sums) override;
  base::Status move(std::span<float> weights, double unit, double divisor, double rate) override;

 private:
  const at::Tensor sums_;
  const at::Tensor from_;
};

/// Updates on the device that trained them, gone through a slice of parameters at a time, or by
/// kernels of our own. Neither contracts anything: so the host's and a card's bits are the same,
/// and those of every other grouping. What libtorch throws on the way is an Error.
class DeviceUpdates final : public UpdateGroup {
 public:
  /// The parameters of the model that all started from, and of the models that `clients` made of
  /// it, those of one client after those of another. Nobody changes them meanwhile. Throws what
  /// libtorch throws.
  DeviceUpdates(std::int64_t clients, const std::vector<at::Tensor>& from,
                const std::vector<at::Tensor>& to);

  std::size_t size() const override { return norms_.size(); }
  double norm(std::size_t place) const override { return norms_[place]; }
  double largest_move(std::size_t place) const override { return largest_[place]; }
  base::Result<std::vector<float>> sketch(std::size_t place) override;
  base::Result<std::span<const float>> fetch(std::size_t place) override;
  base::Result<std::unique_ptr<SumsThere>> sum_up(std::span<const double> scales) override;

 private:
  /// The moves of all clients, [clients, slice] in double, `first` being the slice's first
  /// parameter. They may be written to.
  using Visit = std::function<void(std::int64_t first, at::Tensor moves)>;
  void each_slice(const Visit& visit) const;
  void measure();
  at::Tensor sketched() const;
  at::Tensor summed(std::span<const double> scales) const;

  const std::int64_t clients_;
  std::vector<at::Tensor> from_;  ///< [parameters] each
  /// [clients, parameters] each; where kernels read them, also a convolution's weights as they are,
  /// with channels last.
  std::vector<at::Tensor> to_;
  std::int64_t parameters_ = 0;
  std::vector<double> norms_;
  std::vector<double> largest_;
  at::Tensor sketches_;  ///< on the host, once they were asked for
  at::Tensor row_;       ///< what was fetched
};

}  // namespace ebb::fl
