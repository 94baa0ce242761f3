// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ebb::base {

/// The whole of a file, also where the size is not known beforehand (/proc, /sys, pipes).
/// Fails when there is more than `limit` bytes, so that no file decides how much memory we take.
Result<std::string> read_file(const std::string& path, std::uint64_t limit = 64 << 20);

/// Replaces `path` in one step: readers see the old content or the new, never a part. The new
/// content is on disk before the name moves. On failure nothing changed and no temporary is left.
Status write_file_atomically(const std::string& path, std::string_view content);

/// A file descriptor that closes itself. Movable, not copyable.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  void close();
  /// Lets go of it without closing it.
  int release();

 private:
  int descriptor_ = -1;
};

}  // namespace ebb::base
