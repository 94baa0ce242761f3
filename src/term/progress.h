// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "term/style.h"

namespace ebb::term {

/// A progress bar on stderr, redrawn in place; nothing at all if stderr is not a terminal.
/// Erases itself at the end. Not thread-safe.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `share` from 0 to 1, and what is being done now.
  void show(double share, const std::string& what);

 private:
  const std::string title_;
  const Style style_;
};

}  // namespace ebb::term
