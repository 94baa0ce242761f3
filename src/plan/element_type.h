// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ebb::plan {

/// What one element of a tensor is.
enum class ElementType : std::uint8_t { f32, bf16, f16, i64, boolean };

constexpr std::uint64_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return 4;
    case ElementType::bf16:
    case ElementType::f16:
      return 2;
    case ElementType::i64:
      return 8;
    case ElementType::boolean:
      return 1;
  }
  return 0;
}

constexpr bool is_half(ElementType type) {
  return type == ElementType::bf16 || type == ElementType::f16;
}

/// What PyTorch computes with when two floating types meet.
constexpr ElementType promoted(ElementType a, ElementType b) {
  return a == b ? a : ElementType::f32;
}

}  // namespace ebb::plan
