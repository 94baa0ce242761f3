// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace ebb::wire {

/// A folder of this user alone for a supervisor's socket, the tables of sites that its job's
/// processes keep (sites-*) and a record that nobody wants to keep (record*), under
/// $XDG_RUNTIME_DIR or the temporary folder. Locked as long as the object lives, and removed with
/// it. One whose owner was killed stays behind without a lock: the next one that is made sweeps it
/// away.
class SocketFolder {
 public:
  /// Also sweeps what others left behind.
  static base::Result<SocketFolder> make();
  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&&) = delete;
  ~SocketFolder();

  /// Of the socket in it.
  const std::string& socket() const { return socket_; }

 private:
  SocketFolder(std::string path, base::FileDescriptor lock);

  std::string path_;
  std::string socket_;
  base::FileDescriptor lock_;
};

/// Removes folders that supervisors of this user left behind below `parents`, 100 at most, and
/// gives their number. One that is locked, another's, or holds anything else is left as it is.
int sweep_socket_folders(const std::vector<std::string>& parents);

}  // namespace ebb::wire
