// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "sense/roots.h"
#include "support/temporary_directory.h"

namespace ebb::sense {

/// The process that each recorded tree holds.
inline constexpr pid_t kRecorded = 100;

inline Roots recorded(const std::string& tree) {
  return Roots::under(EBB_TEST_DATA "/sense/" + tree);
}

/// A recorded tree that a test may change.
class CopiedTree {
 public:
  explicit CopiedTree(const std::string& tree) {
    std::filesystem::copy(EBB_TEST_DATA "/sense/" + tree, directory_.path(),
                          std::filesystem::copy_options::recursive);
  }

  Roots roots() const { return Roots::under(directory_.path()); }
  void write(const std::string& file, const std::string& content) const {
    directory_.write(file, content);
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(directory_ / file); }
  void link(const std::string& file, const std::string& target) const {
    remove(file);
    std::filesystem::create_symlink(target, directory_ / file);
  }
  std::string operator/(const std::string& file) const { return directory_ / file; }

 private:
  support::TemporaryDirectory directory_;
};

}  // namespace ebb::sense
