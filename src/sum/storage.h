// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace ebb::sum {

/// 64-bit integers in memory straight from the system: what is freed goes back at once, since no
/// allocator keeps it. Huge pages where the system has them and the memory is large. Movable; not
/// thread-safe.
class Storage {
 public:
  /// Code::out_of_memory where the system has none.
  static base::Result<Storage> create(std::size_t count);

  Storage(Storage&& other) noexcept;
  Storage& operator=(Storage&&) = delete;
  ~Storage();

  std::int64_t* data() { return data_; }
  const std::int64_t* data() const { return data_; }

  /// Lets go of memory that holds nothing but the first `count` integers, in portions of 2 MiB; the
  /// values are lost.
  void release_before(std::size_t count);
  /// Lets go of all pages; they may be used again.
  void release_all();

 private:
  Storage(std::int64_t* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  std::int64_t* data_;
  std::size_t bytes_;
  std::size_t released_ = 0;  ///< bytes from the start
};

}  // namespace ebb::sum
