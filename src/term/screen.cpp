// SPDX-License-Identifier: Apache-2.0
#include "term/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/write_now.h"

namespace ebb::term {
namespace {

// Of a terminal that somebody has halted (Ctrl-S), when the screen goes.
constexpr int kPatienceMs = 1000;

constexpr const char* kHideCursor = "\033[?25l";
constexpr const char* kShowCursor = "\033[?25h";

}  // namespace

std::string clipped(const std::string& line, std::size_t width) {
  std::string out;
  std::size_t columns = 0;
  bool painted = false;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\033') {
      const std::size_t end = line.find('m', i);
      if (end == std::string::npos) break;
      out.append(line, i, end + 1 - i);
      painted = true;
      i = end + 1;
      continue;
    }
    if (columns == width) break;
    std::size_t next = i + 1;
    while (next < line.size() && (static_cast<unsigned char>(line[next]) & 0xC0) == 0x80)
      ++next;
    out.append(line, i, next - i);
    ++columns;
    i = next;
  }
  if (painted) out += "\033[0m";
  return out;
}

Screen::Screen(int input, int output) : input_(input), output_(output) {
  if (::isatty(input_) != 0 && ::tcgetattr(input_, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    keys_changed_ = ::tcsetattr(input_, TCSANOW, &keys) == 0;
  }
  unsent_ = kHideCursor;
  send(0);
}

Screen::~Screen() {
  unsent_ += kShowCursor;
  send(kPatienceMs);
  if (keys_changed_) ::tcsetattr(input_, TCSANOW, &before_);
}

bool Screen::send(int patience_ms) {
  std::string_view rest = unsent_;
  const int failure = base::write_within(output_, rest, patience_ms);
  // Another failure: the terminal is gone, and there is nobody to tell.
  unsent_.erase(0, failure == EAGAIN ? unsent_.size() - rest.size() : unsent_.size());
  return unsent_.empty();
}

void Screen::draw(const std::vector<std::string>& lines) {
  if (!send(0)) return;  // halfway through the last one: this one is left out
  winsize size{};
  const bool known = ::ioctl(output_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 1;
  const std::size_t width = known ? size.ws_col : 80;
  const std::size_t height = known ? size.ws_row - 1U : 23;
  std::string out;
  if (drawn_ > 0) out += "\033[" + std::to_string(drawn_) + "A";
  out += "\r\033[J";
  drawn_ = std::min(lines.size(), height);
  for (std::size_t i = 0; i < drawn_; ++i)
    out += clipped(lines[i], width) + "\r\n";
  unsent_ = std::move(out);
  send(0);
}

}  // namespace ebb::term
