// SPDX-License-Identifier: Apache-2.0
#include "term/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ebb::term {
namespace {

void write_all(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;  // the terminal is gone: nobody to tell
    done += static_cast<std::size_t>(wrote);
  }
}

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
  write_all(output_, kHideCursor);
}

Screen::~Screen() {
  write_all(output_, kShowCursor);
  if (keys_changed_) ::tcsetattr(input_, TCSANOW, &before_);
}

void Screen::draw(const std::vector<std::string>& lines) {
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
  write_all(output_, out);
}

}  // namespace ebb::term
