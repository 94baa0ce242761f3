// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <span>
#include <vector>

#include "fl/data/data_set.h"
#include "fl/random.h"

namespace ebb::fl {

/// How one picture is moved in training.
struct Move {
  std::int64_t down = 0;
  std::int64_t right = 0;
  bool flips = false;

  /// At most four pixels either way, and mirrored half of the time.
  static Move draw(Random& random);
};

/// Turns bytes of a data set into what networks take. Thread-safe. The data set outlives it.
class Pictures {
 public:
  Pictures(const DataSet& data, at::Device device);

  /// The samples of `split`, into `into`: [samples, channels, height, width] on the host.
  void fill(const Split& split, std::span<const std::uint32_t> samples, float* into) const;

  /// The same for training: cropped and flipped at random where the data set says so.
  void fill_augmented(std::span<const std::uint32_t> samples, Random& random, float* into) const;

  /// Training samples on the device, `samples` a tensor of indices there:
  /// [samples, channels, height, width]. `moves` is one for each of them, or empty.
  at::Tensor on_device(const at::Tensor& samples, std::span<const Move> moves) const;

  std::size_t floats_each() const { return floats_each_; }

 private:
  at::Tensor moved(const at::Tensor& pixels, std::span<const Move> moves) const;
  void place(const std::uint8_t* pixels, float* into) const;

  const DataSet& data_;
  const std::size_t floats_each_;
  std::vector<std::array<float, 256>> values_;  ///< of each byte, per channel
  at::Tensor pixels_;  ///< all training bytes; on the host those of the data set itself
  at::Tensor mean_;    ///< per channel
  at::Tensor deviation_;
};

}  // namespace ebb::fl
