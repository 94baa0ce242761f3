// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/text.h"

namespace ebb::base {
namespace {

ssize_t read_some(int descriptor, char* into, std::size_t most) {
  ssize_t got = 0;
  do {
    got = ::read(descriptor, into, most);
  } while (got < 0 && errno == EINTR);
  return got;
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(descriptor, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

/// A new file with a name that nobody else has, or none and errno. Not by mkostemp, whose mode is
/// 0600: a new file of the user's should be as any other one of theirs, and to ask for the umask is
/// to change it, for all threads of a process that is not ours.
FileDescriptor create_beside(const std::string& path, std::string& name) {
  constexpr int kMostTries = 100;
  for (int tries = 0; tries < kMostTries; ++tries) {
    name = format_text("%s.%d-%llx", path.c_str(), static_cast<int>(::getpid()),
                       static_cast<unsigned long long>(system_clock().now_ns()));
    FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.is_open() || errno != EEXIST) return file;
  }
  return {};
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

Status write_file_atomically(const std::string& path, std::string_view content) {
  std::string temporary;
  FileDescriptor file = create_beside(path, temporary);
  if (!file.is_open()) return system_error(errno, "cannot create a file beside %s", path.c_str());
  int failure = write_all(file.get(), content);
  if (failure == 0 && ::fsync(file.get()) != 0) failure = errno;
  file.close();
  if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    return system_error(failure, "cannot write %s", path.c_str());
  }
  return {};
}

}  // namespace ebb::base
