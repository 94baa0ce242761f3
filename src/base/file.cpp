// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ebb::base {
namespace {

ssize_t read_some(int descriptor, char* into, std::size_t most) {
  ssize_t got = 0;
  do {
    got = ::read(descriptor, into, most);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  close();
}

void FileDescriptor::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

int FileDescriptor::release() {
  return std::exchange(descriptor_, -1);
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return system_error(errno, "cannot open %s", path.c_str());
  std::string content;
  std::size_t filled = 0;
  while (true) {
    // Small first, since most files read here are a page of /proc.
    if (filled == content.size()) content.resize(content.empty() ? 4096 : content.size() * 2);
    const ssize_t got = read_some(file.get(), content.data() + filled, content.size() - filled);
    if (got < 0) return system_error(errno, "cannot read %s", path.c_str());
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > limit) {
      return error(Code::bad_input, "%s is larger than %llu bytes", path.c_str(),
                   static_cast<unsigned long long>(limit));
    }
  }
  content.resize(filled);
  return content;
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(descriptor, content.data(), content.size());
    if (put >= 0) {
      content.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace ebb::base
