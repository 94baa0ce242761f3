// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>

#include "fl/network_shape.h"
#include "fl/random.h"
#include "fl/trainer.h"

namespace ebb::fl {

/// Which values the dropout layers of a network keep while some clients train. That follows from
/// seed, round, client, step, layer, and a value's place in its batch and its sample alone: it is
/// the same on the host and on a device, for a client alone and for one among others. Not
/// thread-safe. The shape and the tasks outlive it.
///
/// A sample has its own blocks of random numbers (random_block) in each layer. A block is four
/// numbers of 32 bits, each of which decides on two values, the lower half first; a value is
/// dropped where its 16 bits are below `rate` * 2^16. The counter is {block, step, round, client}.
class Dropout {
 public:
  Dropout(const NetworkShape& shape, std::span<const LocalTask> tasks, at::Device device);

  /// Masks are those of this step from now on.
  void begin(std::size_t step) { step_ = step; }

  /// Of one dropout layer and batches of `rows`, on the device: [clients, rows, values], true where
  /// a value is kept. The host makes it in a loop, a device by operations on whole tensors.
  at::Tensor mask(std::size_t layer, std::int64_t rows) const;
  at::Tensor mask_by_loop(std::size_t layer, std::int64_t rows) const;
  at::Tensor mask_by_operations(std::size_t layer, std::int64_t rows) const;

  /// What values that are kept are multiplied by, so that their mean stays.
  double scale(std::size_t layer) const;

 private:
  std::uint32_t threshold(std::size_t layer) const;
  /// Of a sample: in the layers before this one, and in all.
  std::int64_t blocks_before(std::size_t layer) const;

  const NetworkShape& shape_;
  const std::span<const LocalTask> tasks_;
  const at::Device device_;
  const RandomKey key_;
  std::size_t step_ = 0;
  at::Tensor rounds_;  ///< of each task, on the device: [clients, 1, 1]
  at::Tensor clients_;
};

}  // namespace ebb::fl
