// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ebb::term {

/// The first `width` columns of a line that may be painted; colours end with it.
std::string clipped(const std::string& line, std::size_t width);

/// A few lines on a terminal that are drawn again in place. Where `input` is a terminal too, keys
/// come one by one and unseen. The destructor gives the terminal back as it was, with the cursor
/// below the last drawing. Not thread-safe.
class Screen {
 public:
  /// Descriptors stay the caller's and must outlive the screen.
  Screen(int input, int output);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Replaces what was drawn before. Lines are cut at the terminal's width, and lines beyond its
  /// height are left out: a line that wraps could not be drawn over. Never waits: a terminal that
  /// takes nothing, because somebody has halted it, is drawn again when it does.
  void draw(const std::vector<std::string>& lines);

 private:
  /// Whether all of it could be sent.
  bool send(int patience_ms);

  const int input_;
  const int output_;
  bool keys_changed_ = false;
  termios before_{};
  std::size_t drawn_ = 0;
  std::string unsent_;
};

}  // namespace ebb::term
