// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/pool_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sum/widest.h"

namespace ebb::fl {
namespace {

struct Four {
  static constexpr std::int64_t kLanes = 4;
  using Floats = float __attribute__((vector_size(16)));
  using Ints = std::int32_t __attribute__((vector_size(16)));
  using Bytes = std::uint8_t __attribute__((vector_size(4)));

  EBB_IN_WIDEST static inline Floats even(Floats one, Floats other) {
    return __builtin_shufflevector(one, other, 0, 2, 4, 6);
  }
  EBB_IN_WIDEST static inline Floats odd(Floats one, Floats other) {
    return __builtin_shufflevector(one, other, 1, 3, 5, 7);
  }
  EBB_IN_WIDEST static inline Floats first(Floats even, Floats odd) {
    return __builtin_shufflevector(even, odd, 0, 4, 1, 5);
  }
  EBB_IN_WIDEST static inline Floats second(Floats even, Floats odd) {
    return __builtin_shufflevector(even, odd, 2, 6, 3, 7);
  }
  template <class Values>
  EBB_IN_WIDEST static inline Values swap_pairs(Values values) {
    return values;
  }
  /// In order again, as swap_pairs leaves them. A conversion would go number by number.
  EBB_IN_WIDEST static inline Bytes low_bytes(Ints numbers) {
    using All = std::uint8_t __attribute__((vector_size(16)));
    const All all = std::bit_cast<All>(numbers);
    return __builtin_shufflevector(all, all, 0, 4, 8, 12);
  }
};

/// Within halves of 16 bytes, which costs the least: what is even, odd or to be interleaved has the
/// pairs 0, 2, 1 and 3 one after the other.
struct Eight {
  static constexpr std::int64_t kLanes = 8;
  using Floats = float __attribute__((vector_size(32)));
  using Ints = std::int32_t __attribute__((vector_size(32)));
  using Bytes = std::uint8_t __attribute__((vector_size(8)));

  EBB_IN_WIDEST static inline Floats even(Floats one, Floats other) {
    return __builtin_shufflevector(one, other, 0, 2, 8, 10, 4, 6, 12, 14);
  }
  EBB_IN_WIDEST static inline Floats odd(Floats one, Floats other) {
    return __builtin_shufflevector(one, other, 1, 3, 9, 11, 5, 7, 13, 15);
  }
  template <class Values>
  EBB_IN_WIDEST static inline Values swap_pairs(Values values) {
    return __builtin_shufflevector(values, values, 0, 1, 4, 5, 2, 3, 6, 7);
  }
  EBB_IN_WIDEST static inline Bytes low_bytes(Ints numbers) {
    using All = std::uint8_t __attribute__((vector_size(32)));
    const All all = std::bit_cast<All>(numbers);
    return __builtin_shufflevector(all, all, 0, 4, 16, 20, 8, 12, 24, 28);
  }
  EBB_IN_WIDEST static inline Floats first(Floats even, Floats odd) {
    return __builtin_shufflevector(even, odd, 0, 8, 1, 9, 4, 12, 5, 13);
  }
  EBB_IN_WIDEST static inline Floats second(Floats even, Floats odd) {
    return __builtin_shufflevector(even, odd, 2, 10, 3, 11, 6, 14, 7, 15);
  }
};

template <typename Value, typename Element>
EBB_IN_WIDEST inline Value load(const Element* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename Value, typename Element>
EBB_IN_WIDEST inline void store(const Value& value, Element* into) {
  std::memcpy(into, &value, sizeof value);
}

/// NaN counts as larger than every number, so that pooling passes it on.
template <class Lanes>
EBB_IN_WIDEST inline typename Lanes::Ints is_above(typename Lanes::Floats one,
                                                   typename Lanes::Floats other) {
  return (one > other) | (one != one);
}

/// The pixels of as many windows as a vector has lanes: `a` and `b` above, `c` and `d` below.
template <class Lanes>
struct Windows {
  typename Lanes::Floats a, b, c, d;
};

template <class Lanes>
EBB_IN_WIDEST inline Windows<Lanes> windows_at(const float* above, const float* below) {
  using Floats = typename Lanes::Floats;
  const auto first = load<Floats>(above);
  const auto second = load<Floats>(above + Lanes::kLanes);
  const auto third = load<Floats>(below);
  const auto fourth = load<Floats>(below + Lanes::kLanes);
  return {Lanes::even(first, second), Lanes::odd(first, second), Lanes::even(third, fourth),
          Lanes::odd(third, fourth)};
}

template <bool kRectifies, class Lanes>
EBB_IN_WIDEST inline void pool_some(const float* above, const float* below, float* into,
                                    std::uint8_t* which) {
  using Floats = typename Lanes::Floats;
  using Ints = typename Lanes::Ints;
  const auto [a, b, c, d] = windows_at<Lanes>(above, below);
  const Ints right_above = is_above<Lanes>(b, a);
  const Ints right_below = is_above<Lanes>(d, c);
  const Floats top = right_above ? b : a;
  const Floats bottom = right_below ? d : c;
  const Ints is_below = is_above<Lanes>(bottom, top);
  const Floats largest = is_below ? bottom : top;
  // True is -1.
  Ints place = is_below ? 2 - right_below : -right_above;
  if constexpr (kRectifies) {
    const Floats zero = {};
    place = largest <= zero ? Ints{} + kNoPixel : place;
    store(Lanes::swap_pairs(largest < zero ? zero : largest), into);
  } else {
    store(Lanes::swap_pairs(largest), into);
  }
  store(Lanes::low_bytes(place), which);
}

/// The same where nobody asks which pixel it was.
template <bool kRectifies, class Lanes>
EBB_IN_WIDEST inline void pool_some(const float* above, const float* below, float* into) {
  using Floats = typename Lanes::Floats;
  const auto [a, b, c, d] = windows_at<Lanes>(above, below);
  const Floats top = b > a ? b : a;
  const Floats bottom = d > c ? d : c;
  Floats largest = bottom > top ? bottom : top;
  const Floats zero = {};
  if constexpr (kRectifies) largest = largest < zero ? zero : largest;
  // A sum is no number where a term is none.
  const auto is_none = (a != a) | (b != b) | (c != c) | (d != d);
  store(Lanes::swap_pairs(is_none ? a + b + c + d : largest), into);
}

template <bool kRectifies, bool kAsks, class Lanes>
EBB_IN_WIDEST inline void pool_these(const float* above, const float* below, std::int64_t at,
                                     float* into, std::uint8_t* which) {
  if constexpr (kAsks)
    pool_some<kRectifies, Lanes>(above + 2 * at, below + 2 * at, into + at, which + at);
  else
    pool_some<kRectifies, Lanes>(above + 2 * at, below + 2 * at, into + at);
}

/// `above` and `below` hold 2 * `count` pixels each.
template <bool kRectifies, bool kAsks, bool kWide>
EBB_IN_WIDEST inline void pool_row(const float* above, const float* below, std::int64_t count,
                                   float* into, std::uint8_t* which) {
  if (count < Four::kLanes) {
    float pixels[2][2 * Four::kLanes] = {};
    float largest[Four::kLanes];
    std::uint8_t places[Four::kLanes];
    std::copy_n(above, 2 * count, pixels[0]);
    std::copy_n(below, 2 * count, pixels[1]);
    pool_these<kRectifies, kAsks, Four>(pixels[0], pixels[1], 0, largest, places);
    std::copy_n(largest, count, into);
    if constexpr (kAsks) std::copy_n(places, count, which);
    return;
  }
  std::int64_t x = 0;
  if constexpr (kWide) {
    for (; x + Eight::kLanes <= count; x += Eight::kLanes)
      pool_these<kRectifies, kAsks, Eight>(above, below, x, into, which);
  }
  // The last ones once more rather than one by one.
  for (; x < count; x += Four::kLanes)
    pool_these<kRectifies, kAsks, Four>(above, below, std::min(x, count - Four::kLanes), into,
                                        which);
}

template <bool kRectifies, bool kAsks, bool kWide>
EBB_IN_WIDEST inline void pool_all(const Planes& planes, const float* pixels, float* into,
                                   std::uint8_t* which) {
  const std::int64_t rows = planes.height / 2;
  const std::int64_t columns = planes.width / 2;
  for (std::int64_t plane = 0; plane < planes.count; ++plane) {
    const float* above = pixels + plane * planes.height * planes.width;
    for (std::int64_t row = 0; row < rows; ++row) {
      pool_row<kRectifies, kAsks, kWide>(above, above + planes.width, columns, into, which);
      above += 2 * planes.width;
      into += columns;
      if constexpr (kAsks) which += columns;
    }
  }
}

template <bool kRectifies, bool kAsks>
void pool_widest(const Planes& planes, const float* pixels, float* into, std::uint8_t* which) {
  if (sum::wide_vectors())
    sum::with_wide_vectors(
        [=]() EBB_IN_WIDEST { pool_all<kRectifies, kAsks, true>(planes, pixels, into, which); });
  else
    pool_all<kRectifies, kAsks, false>(planes, pixels, into, which);
}

template <class Lanes>
EBB_IN_WIDEST inline void spread_some(const float* gradients, const std::uint8_t* which,
                                      float* above, float* below) {
  using Floats = typename Lanes::Floats;
  using Ints = typename Lanes::Ints;
  const Floats gradient = Lanes::swap_pairs(load<Floats>(gradients));
  const Ints place =
      Lanes::swap_pairs(__builtin_convertvector(load<typename Lanes::Bytes>(which), Ints));
  const Floats zero = {};
  const Floats a = place == 0 ? gradient : zero;
  const Floats b = place == 1 ? gradient : zero;
  const Floats c = place == 2 ? gradient : zero;
  const Floats d = place == 3 ? gradient : zero;
  store(Lanes::first(a, b), above);
  store(Lanes::second(a, b), above + Lanes::kLanes);
  store(Lanes::first(c, d), below);
  store(Lanes::second(c, d), below + Lanes::kLanes);
}

template <bool kWide>
EBB_IN_WIDEST inline void spread_row(const float* gradients, const std::uint8_t* which,
                                     std::int64_t count, float* above, float* below) {
  if (count < Four::kLanes) {
    for (std::int64_t x = 0; x < 2 * count; ++x) {
      above[x] = which[x / 2] == x % 2 ? gradients[x / 2] : 0;
      below[x] = which[x / 2] == 2 + x % 2 ? gradients[x / 2] : 0;
    }
    return;
  }
  std::int64_t x = 0;
  if constexpr (kWide) {
    for (; x + Eight::kLanes <= count; x += Eight::kLanes)
      spread_some<Eight>(gradients + x, which + x, above + 2 * x, below + 2 * x);
  }
  for (; x < count; x += Four::kLanes) {
    const std::int64_t at = std::min(x, count - Four::kLanes);
    spread_some<Four>(gradients + at, which + at, above + 2 * at, below + 2 * at);
  }
}

template <bool kWide>
EBB_IN_WIDEST inline void spread_all(const Planes& planes, const float* gradients,
                                     const std::uint8_t* which, float* into) {
  const std::int64_t rows = planes.height / 2;
  const std::int64_t columns = planes.width / 2;
  for (std::int64_t plane = 0; plane < planes.count; ++plane) {
    float* above = into + plane * planes.height * planes.width;
    for (std::int64_t row = 0; row < rows; ++row) {
      spread_row<kWide>(gradients, which, columns, above, above + planes.width);
      above += 2 * planes.width;
      gradients += columns;
      which += columns;
    }
  }
}

}  // namespace

void pool_planes(const Planes& planes, const float* pixels, bool rectifies, float* into,
                 std::uint8_t* which) {
  if (rectifies && which != nullptr) return pool_widest<true, true>(planes, pixels, into, which);
  if (rectifies) return pool_widest<true, false>(planes, pixels, into, which);
  if (which != nullptr) return pool_widest<false, true>(planes, pixels, into, which);
  pool_widest<false, false>(planes, pixels, into, which);
}

void spread_planes(const Planes& planes, const float* gradients, const std::uint8_t* which,
                   float* into) {
  if (sum::wide_vectors())
    sum::with_wide_vectors([=]()
                               EBB_IN_WIDEST { spread_all<true>(planes, gradients, which, into); });
  else
    spread_all<false>(planes, gradients, which, into);
}

}  // namespace ebb::fl
