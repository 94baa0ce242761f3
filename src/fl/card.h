// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fact/card.h"

namespace ebb::fl {

using fact::CardMemory;

/// The card that trains, and what the arithmetic keeps of its memory for the next time.
class Card {
 public:
  virtual ~Card() = default;

  /// CUDA's number of it.
  virtual std::uint32_t index() const = 0;
  /// "GPU 0"
  std::string name() const { return "GPU " + std::to_string(index()); }
  /// Nothing where it cannot be read.
  virtual std::optional<CardMemory> read() = 0;
  /// Gives what is cached back to the card.
  virtual void empty_cache() = 0;
  /// Passes time, in which other processes may leave the card.
  virtual void wait(double seconds) = 0;
};

}  // namespace ebb::fl
