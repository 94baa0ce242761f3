// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ebb::fl {

/// Pictures one after the other, each `height` x `width`; pooling makes one row out of two, and one
/// pixel out of four. The last row or column of an odd number belongs to none.
struct Planes {
  std::int64_t count;
  std::int64_t height;
  std::int64_t width;
};

/// What became of a window where pooling rectifies, and no pixel was above 0.
inline constexpr std::uint8_t kNoPixel = 4;

/// The largest pixel of each window; where it `rectifies`, 0 for what is negative. `which`: where
/// that pixel is, the first of equals: bit 0 right, bit 1 below; or kNoPixel. Null: nobody asks.
void pool_planes(const Planes& planes, const float* pixels, bool rectifies, float* into,
                 std::uint8_t* which);

/// Gives what comes back for each window to the pixel that pool_planes named, and 0 to the others.
/// Writes all pixels of windows, and no others.
void spread_planes(const Planes& planes, const float* gradients, const std::uint8_t* which,
                   float* into);

}  // namespace ebb::fl
