// SPDX-License-Identifier: Apache-2.0
#include "base/write_now.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"

namespace ebb::base {
namespace {

enum class Kind { socket, waits, file };

/// What is neither a socket nor a pipe nor a terminal waits for nobody.
Kind kind_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return Kind::file;
  if (S_ISSOCK(status.st_mode)) return Kind::socket;
  const bool is_terminal = S_ISCHR(status.st_mode) && ::isatty(descriptor) != 0;
  return S_ISFIFO(status.st_mode) || is_terminal ? Kind::waits : Kind::file;
}

/// The same pipe or terminal with flags of its own.
FileDescriptor without_waiting(int descriptor) {
  char name[40];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  return FileDescriptor(::open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool has_room(int descriptor, int milliseconds) {
  pollfd room{descriptor, POLLOUT, 0};
  return ::poll(&room, 1, milliseconds) == 1;
}

}  // namespace

ssize_t write_now(int descriptor, std::string_view content) {
  const Kind kind = kind_of(descriptor);
  if (kind == Kind::socket)
    return ::send(descriptor, content.data(), content.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (kind == Kind::file) return ::write(descriptor, content.data(), content.size());
  const FileDescriptor own = without_waiting(descriptor);
  if (own.is_open()) return ::write(own.get(), content.data(), content.size());
  // Another user's, or no descriptor is left. Where there is room, there is room for so much,
  // unless somebody else is faster.
  if (!has_room(descriptor, 0)) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(descriptor, content.data(), std::min<std::size_t>(content.size(), PIPE_BUF));
}

int write_within(int descriptor, std::string_view& content, int milliseconds) {
  const std::int64_t start = system_clock().now_ns();
  while (!content.empty()) {
    const ssize_t put = write_now(descriptor, content);
    if (put >= 0) {
      content.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    const std::int64_t passed = (system_clock().now_ns() - start) / 1'000'000;
    const auto left = static_cast<int>(std::max<std::int64_t>(milliseconds - passed, 0));
    if (left == 0 || !has_room(descriptor, left)) return EAGAIN;
  }
  return 0;
}

}  // namespace ebb::base
