// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ebb::sites {

/// Reads memory of this process that may not be there. Each page is asked of the kernel once; an
/// object lives no longer than one look at a stack, and belongs to one thread.
class Readable {
 public:
  /// Whether all of it can be read.
  bool holds(std::uint64_t address, std::size_t bytes);

  /// False where it cannot be read.
  template <class T>
  bool read(std::uint64_t address, T* value) {
    if (!holds(address, sizeof(T))) return false;
    std::memcpy(value, reinterpret_cast<const void*>(address), sizeof(T));
    return true;
  }

 private:
  static constexpr std::size_t kPages = 32;

  std::uint64_t pages_[kPages] = {};  ///< by their number; 0 none
};

}  // namespace ebb::sites
