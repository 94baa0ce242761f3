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
  /// As devices take it: kMoveNumbers numbers.
  void write(std::int64_t* into) const;
};

inline constexpr std::int64_t kMoveNumbers = 3;

/// Turns bytes of a data set into what networks take. Thread-safe. The data set outlives it.
class Pictures {
 public:
  Pictures(const DataSet& data, at::Device device);

  /// The samples of `split`, into `into`: [samples, channels, height, width] on the host.
  void fill(const Split& split, std::span<const std::uint32_t> samples, float* into) const;

  /// The same for training: cropped and flipped at random where the data set says so.
  void fill_augmented(std::span<const std::uint32_t> samples, Random& random, float* into) const;

  /// The same of bytes on the device: [samples, channels, height, width]. `moves`: what write()
  /// wrote for each of them, [samples, kMoveNumbers] on the device, or undefined.
  at::Tensor normalised(const at::Tensor& pixels, const at::Tensor& moves) const;

  std::size_t floats_each() const { return floats_each_; }

 private:
  void place(const std::uint8_t* pixels, float* into) const;

  const DataSet& data_;
  const std::size_t floats_each_;
  std::vector<std::array<float, 256>> values_;  ///< of each byte, per channel
  at::Tensor mean_;                             ///< per channel, on the device
  at::Tensor deviation_;
};

}  // namespace ebb::fl
