// SPDX-License-Identifier: Apache-2.0
#include "wire/socket_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace ebb::wire {
namespace {

constexpr std::string_view kPrefix = "ebb-run-";
constexpr std::string_view kRandom = "XXXXXX";
constexpr const char* kSocket = "agents";
constexpr std::string_view kTable = "sites-";
constexpr std::string_view kRecord = "record";
// A socket's name has 107 characters at most.
constexpr std::size_t kLongestParent = 80;
constexpr int kMostSwept = 100;
constexpr std::size_t kMostTables = 1000;
// Somebody who sweeps may take a new folder for one that was left, before it is locked.
constexpr int kTries = 100;

base::FileDescriptor opened_folder(const std::string& path) {
  return base::FileDescriptor(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Whether `path` is the folder that `descriptor` has open.
bool is_same(const std::string& path, int descriptor) {
  struct stat named {};
  struct stat open {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/// A table of sites, which a process of the job made, what run it is of, or a record that goes
/// with the folder.
bool is_passing(const char* path, int folder) {
  struct stat status {};
  const std::string_view name = path;
  return (name.starts_with(kTable) || name.starts_with(kRecord) || name.starts_with(kRunFile)) &&
         ::fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

/// Asks for no memory that an exception could come of: supervisors end by it.
void remove_passing(const std::string& path, int descriptor) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder.get()))
    if (is_passing(entry->d_name, descriptor)) ::unlinkat(descriptor, entry->d_name, 0);
}

/// Names of the tables that are wanted: there is a file that says of what run they are.
std::vector<std::string> tables_in(const std::string& path, int descriptor) {
  std::vector<std::string> tables;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (folder == nullptr || !is_passing(kRunFile, descriptor)) return tables;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(kTable) && is_passing(entry->d_name, descriptor))
      tables.emplace_back(name);
    if (tables.size() == kMostTables) break;
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

/// Whether nobody can have put anything else there: this user's alone, with nothing in it but
/// what is known.
bool is_ours_alone(const std::string& path, int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & 0777) != 0700)
    return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (folder == nullptr) return false;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || is_passing(entry->d_name, descriptor)) continue;
    if (name != kSocket || ::fstatat(descriptor, kSocket, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISSOCK(status.st_mode))
      return false;
  }
  return true;
}

/// A folder that was left behind, locked for this process alone.
struct Left {
  base::FileDescriptor descriptor;
  std::vector<std::string> tables;
};

std::optional<Left> left_at(const std::string& path) {
  Left left{opened_folder(path), {}};
  if (!left.descriptor.is_open() || ::flock(left.descriptor.get(), LOCK_EX | LOCK_NB) != 0)
    return std::nullopt;
  // Whoever had it before may have removed it, and somebody else made one of the same name.
  if (!is_same(path, left.descriptor.get()) || !is_ours_alone(path, left.descriptor.get()))
    return std::nullopt;
  left.tables = tables_in(path, left.descriptor.get());
  return left;
}

bool remove_left(const std::string& path, const Left& left) {
  remove_passing(path, left.descriptor.get());
  ::unlinkat(left.descriptor.get(), kSocket, 0);
  return ::rmdir(path.c_str()) == 0;
}

/// Calls `take` with each folder below `parents` that is called as a supervisor's, until so many
/// times it was true.
template <class Take>
int for_each_folder(const std::vector<std::string>& parents, const Take& take) {
  int taken = 0;
  for (const std::string& parent : parents) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(parent.c_str()), &::closedir);
    if (folder == nullptr) continue;
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kRandom.size()) continue;
      if (take(parent + "/" + std::string(name)) && ++taken == kMostSwept) return taken;
    }
  }
  return taken;
}

}  // namespace

std::vector<std::string> socket_folder_parents() {
  std::vector<std::string> found;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const char* temporary = std::getenv("TMPDIR");
  for (const char* parent : {runtime, temporary, "/tmp"}) {
    if (parent == nullptr || parent[0] != '/' || std::strlen(parent) > kLongestParent) continue;
    if (std::find(found.begin(), found.end(), parent) == found.end()) found.emplace_back(parent);
  }
  return found;
}

SocketFolder::SocketFolder(std::string path, base::FileDescriptor lock)
    : path_(std::move(path)), socket_(path_ + "/" + kSocket), lock_(std::move(lock)) {}

SocketFolder::SocketFolder(SocketFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      socket_(std::exchange(other.socket_, {})),
      lock_(std::move(other.lock_)) {}

SocketFolder::~SocketFolder() {
  if (path_.empty()) return;
  if (lock_.is_open()) remove_passing(path_, lock_.get());
  ::unlink(socket_.c_str());
  ::rmdir(path_.c_str());
}

base::Result<SocketFolder> SocketFolder::make() {
  const std::vector<std::string> all = socket_folder_parents();
  int why = ENOENT;
  for (const std::string& parent : all) {
    for (int i = 0; i < kTries; ++i) {
      std::string path = parent + "/" + std::string(kPrefix) + std::string(kRandom);
      if (::mkdtemp(path.data()) == nullptr) {
        why = errno;
        break;
      }
      base::FileDescriptor lock = opened_folder(path);
      if (!lock.is_open() && errno != ENOENT) {
        why = errno;
        ::rmdir(path.c_str());
        break;
      }
      // Where folders cannot be locked at all, nobody sweeps either.
      const bool is_taken =
          lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (is_taken || !lock.is_open() || !is_same(path, lock.get())) continue;
      SocketFolder made(std::move(path), std::move(lock));
      sweep_socket_folders(all);
      return made;
    }
  }
  return base::system_error(why, "cannot make a folder for the socket in %s", all.back().c_str());
}

int sweep_socket_folders(const std::vector<std::string>& parents) {
  return for_each_folder(parents, [](const std::string& path) {
    const auto left = left_at(path);
    return left && left->tables.empty() && remove_left(path, *left);
  });
}

void take_left_folders(const std::vector<std::string>& parents,
                       const std::function<bool(const LeftFolder&)>& take) {
  for_each_folder(parents, [&](const std::string& path) {
    const auto left = left_at(path);
    if (!left || left->tables.empty()) return false;
    if (take({path, left->tables})) remove_left(path, *left);
    return true;
  });
}

}  // namespace ebb::wire
