// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ebb::cache {

/// Bytes that decide what a random program does; past the end they are 0.
class ByteSource {
 public:
  ByteSource(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return empty() ? 0 : data_[at_++]; }
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t value = 0;
    for (std::uint64_t reach = 1; reach < bound; reach <<= 8) {
      value = value << 8 | byte();
    }
    return value % bound;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

/// Runs the program that the bytes spell on Core and on Model, side by side: streams, events,
/// private pools, captures, limits, changes of settings, driver faults. After every step results,
/// statistics, history and blocks are compared and Core's invariants checked. The first difference,
/// if any, with the steps before it when `log_steps`.
std::optional<std::string> first_difference(ByteSource source, bool log_steps = false);

}  // namespace ebb::cache
