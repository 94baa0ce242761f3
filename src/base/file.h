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

/// Writes a file that somebody asked for, whatever stands at `path`; every file of Ebb's is written
/// by this.
///
/// - Nothing: a new file, with the mode that the umask leaves it.
/// - A regular file: replaced in one step, with its mode, and its owner and group where that is
///   permitted. Readers see the old content or the new, never a part; the new content is on disk
///   before the name moves, and so is the name before this returns, where the file system can. On
///   failure nothing changed and no temporary is left. It is another file: other hard links keep
///   the old content, ACLs and extended attributes are lost.
/// - A regular file that nothing can replace (mounted alone, in a folder that takes no new files):
///   its content is changed in place, once there is room. Readers may see a part, and so may a kill
///   leave one; what was in it comes back on every other failure. At most 64 MiB of it.
/// - A symbolic link: the same for what it leads to, there or not. The link stays.
/// - A device, a FIFO, a socket or an open descriptor (/dev/stdout): written to as it is, without a
///   SIGPIPE.
/// - A FIFO that nobody reads, a directory: Code::bad_input.
Status write_file_atomically(const std::string& path, std::string_view content);

/// Why that would fail, as far as can be told without touching what is there: for who would find
/// out after hours of work. Whether somebody reads a FIFO is not looked at, since that would end
/// its reader.
Status can_write_file(const std::string& path);

/// Whether write_file_atomically makes or replaces a file there, so that others may stand beside it
/// under similar names.
bool is_place_of_file(const std::string& path);

/// Removes what processes that were killed while they wrote `path` have left beside it.
void remove_unfinished(const std::string& path);

/// Writes all of `content`, waiting where the other end is slow, also on a descriptor that does not
/// wait by itself. 0, or errno of what went wrong.
int write_all(int descriptor, std::string_view content);

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
