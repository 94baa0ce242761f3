// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ebb::plan {

/// What bytes of a training step are for. Every byte of a plan belongs to exactly one part.
enum class Part : std::uint8_t {
  weights,
  gradients,  ///< of weights
  optimizer,
  inputs,
  embedding,
  attention,
  feed_forward,
  norm,
  residual,
  convolution,
  logits,       ///< the output layer's result, the loss, and the gradients of both
  temporaries,  ///< gradients of activations, and what a kernel needs while it runs
  slack,        ///< what blocks are larger than what was asked for
};

inline constexpr std::size_t kParts = static_cast<std::size_t>(Part::slack) + 1;

/// The word for `part` in tables and JSON, e.g. "feed_forward".
const char* name_of(Part part);

/// Whether the part is what the forward pass leaves behind for the backward pass.
constexpr bool is_activation(Part part) {
  return part >= Part::embedding && part <= Part::convolution;
}

/// Bytes by part.
class PartBytes {
 public:
  std::uint64_t& operator[](Part part) { return bytes_[static_cast<std::size_t>(part)]; }
  std::uint64_t operator[](Part part) const { return bytes_[static_cast<std::size_t>(part)]; }
  std::uint64_t total() const;
  /// Of the parts that are activations.
  std::uint64_t activations() const;

 private:
  std::array<std::uint64_t, kParts> bytes_{};
};

}  // namespace ebb::plan
