// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace ebb::fl {

/// A file in `folder`, "" for the system's place for temporary files, that is gone with the
/// process, however that ends. Code::io where it cannot be made.
base::Result<base::FileDescriptor> nameless_file(const std::string& folder);

/// Floats in a mapped file that has no name: the kernel may write them out and drop them from
/// memory, and they are gone with the process. Movable, not copyable. Different ranges may be used
/// at the same time.
class Spill {
 public:
  /// In `folder`, "" for the system's place for temporary files. The room is taken at once:
  /// Code::io where the disk has too little.
  static base::Result<Spill> create(const std::string& folder, std::size_t count);

  Spill(Spill&& other) noexcept;
  Spill& operator=(Spill&&) = delete;
  ~Spill();

  std::span<float> values() { return {values_, count_}; }

  /// Has the kernel write a range that is complete, and drop it from this process's memory.
  void write_out(std::size_t first, std::size_t count);
  /// Drops all of it from this process's memory; the values stay in the file.
  void release();

 private:
  Spill(float* values, std::size_t count) : values_(values), count_(count) {}

  float* values_;
  std::size_t count_;
};

}  // namespace ebb::fl
