// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "sense/cgroup.h"

namespace ebb::run {

/// A group below this process's own that limits memory, removed with the object.
class LimitedGroup {
 public:
  explicit LimitedGroup(const char* bytes) {
    const auto place = sense::find_cgroup();
    if (!place || place->directories.empty()) return;
    const bool is_new = place->version == sense::CgroupVersion::v2;
    const std::string folder = place->directories.front() + "/ebb-test-" + std::to_string(getpid());
    if (mkdir(folder.c_str(), 0755) != 0) return;
    folder_ = folder;
    usable_ = write(is_new ? "memory.max" : "memory.limit_in_bytes", bytes);
    write(is_new ? "memory.swap.max" : "memory.memsw.limit_in_bytes", is_new ? "0" : bytes);
  }
  ~LimitedGroup() {
    if (!inner_.empty()) rmdir(inner_.c_str());
    if (!folder_.empty()) rmdir(folder_.c_str());
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  bool usable() const { return usable_; }
  const std::string& folder() const { return folder_; }

  /// A group below it without a limit of its own; everything is started in that one from now on.
  bool add_inner() {
    const std::string inner = folder_ + "/inner";
    if (mkdir(inner.c_str(), 0755) != 0) return false;
    inner_ = inner;
    return true;
  }

  /// The command, inside the group from its first instruction on.
  std::vector<std::string> inside(const std::vector<std::string>& command) const {
    std::vector<std::string> words = {"sh", "-c", "echo $$ > \"$0\" && exec \"$@\"",
                                      (inner_.empty() ? folder_ : inner_) + "/cgroup.procs"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }

 private:
  bool write(const std::string& file, const char* text) const {
    std::ofstream out(folder_ + "/" + file);
    out << text << std::flush;
    return static_cast<bool>(out);
  }

  std::string folder_;
  std::string inner_;
  bool usable_ = false;
};

}  // namespace ebb::run
