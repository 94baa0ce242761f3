// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace ebb::wire {

/// A folder of this user alone for a supervisor's socket, the tables of sites that its job's
/// processes keep (sites-*), what run they are of (run) and a record that nobody wants to keep
/// (record*), under $XDG_RUNTIME_DIR or the temporary folder. Locked as long as the object lives,
/// and removed with it. One whose owner was killed stays behind without a lock: the next one that
/// is made sweeps it away, unless it has tables and says of what run: these wait for
/// take_left_folders().
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
/// gives their number. One that is locked, another's, or holds anything else is left as it is, and
/// so is one whose tables are still wanted.
int sweep_socket_folders(const std::vector<std::string>& parents);

/// The name of the file in a folder that says of what run its tables are.
inline constexpr const char* kRunFile = "run";

/// A folder with tables that a supervisor of this user left behind, as long as nobody else has it.
struct LeftFolder {
  std::string path;
  std::vector<std::string> tables;  ///< names of files in it; anything may stand in them
};

/// Where folders of this user may lie.
std::vector<std::string> socket_folder_parents();

/// Hands over the folders below `parents` that the sweep leaves for the sake of their tables, 100
/// at most, each locked meanwhile; those of which `take` says that they are done with are removed.
void take_left_folders(const std::vector<std::string>& parents,
                       const std::function<bool(const LeftFolder&)>& take);

}  // namespace ebb::wire
