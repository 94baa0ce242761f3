// SPDX-License-Identifier: Apache-2.0
// Where output goes: files, and what else may stand at a path.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

namespace ebb::base {
namespace {

// As many links as the kernel follows.
constexpr int kMostLinks = 40;

/// Keeps SIGPIPE of this thread's own writes from the process for as long as it lives.
class PipeSignalTaken {
 public:
  PipeSignalTaken() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalTaken() {
    const timespec at_once{0, 0};
    if (!was_pending_) {
      while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalTaken(const PipeSignalTaken&) = delete;
  PipeSignalTaken& operator=(const PipeSignalTaken&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The descriptor of this process that `path` names, as /dev/fd/1 does.
std::optional<int> descriptor_at(const std::string& path) {
  const auto number = parse_unsigned(std::string_view(path).substr(path.rfind('/') + 1));
  if (!number || *number > INT_MAX) return std::nullopt;
  char folder[PATH_MAX];
  if (::realpath(folder_of(path).c_str(), folder) == nullptr) return std::nullopt;
  if (folder != format_text("/proc/%d/fd", static_cast<int>(::getpid()))) return std::nullopt;
  return static_cast<int>(*number);
}

/// Where output to a path goes.
struct Destination {
  std::string path;                     ///< behind all links
  std::optional<int> descriptor;        ///< of this process, where the path names one
  std::optional<struct stat> existing;  ///< what is there, if anything is
};

Result<Destination> destination_of(const std::string& path) {
  Destination found{path, {}, {}};
  for (int links = 0; links < kMostLinks; ++links) {
    found.descriptor = descriptor_at(found.path);
    if (found.descriptor) return found;
    char link[PATH_MAX];
    const ssize_t length = ::readlink(found.path.c_str(), link, sizeof link);
    if (length < 0) {
      struct stat existing {};
      if (::stat(found.path.c_str(), &existing) == 0) found.existing = existing;
      return found;
    }
    const std::string to(link, static_cast<std::size_t>(length));
    found.path = to.starts_with('/') ? to : folder_of(found.path) + "/" + to;
  }
  return system_error(ELOOP, "cannot write %s", path.c_str());
}

/// A connection to who listens at a socket, or none and errno.
FileDescriptor connected_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return {};
  }
  path.copy(address.sun_path, path.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return socket;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return socket;
  const int why = errno;
  socket.close();
  errno = why;
  return socket;
}

/// What is there is opened to be written to; none and errno where it cannot be. Never waits for a
/// reader, and a terminal does not become this process's own.
FileDescriptor opened(const Destination& to) {
  if (to.descriptor) return FileDescriptor(::fcntl(*to.descriptor, F_DUPFD_CLOEXEC, 0));
  if (S_ISSOCK(to.existing->st_mode)) return connected_to(to.path);
  FileDescriptor file(::open(to.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.is_open()) ::fcntl(file.get(), F_SETFL, 0);
  return file;
}

Status write_into(const std::string& path, const Destination& to, std::string_view content) {
  const FileDescriptor file = opened(to);
  if (!file.is_open() && errno == ENXIO && to.existing && S_ISFIFO(to.existing->st_mode))
    return error(Code::bad_input, "cannot write %s: a FIFO that nobody reads", path.c_str());
  if (!file.is_open()) return system_error(errno, "cannot write %s", path.c_str());
  const PipeSignalTaken taken;
  if (const int failure = write_all(file.get(), content); failure != 0)
    return system_error(failure, "cannot write %s", path.c_str());
  return {};
}

/// What the names of unfinished files for `path` begin with: as much of its own as leaves room.
std::string beginning_of_unfinished(const std::string& path) {
  constexpr std::size_t kLongestEnding = 32;  // a dot, a pid, a dash and nanoseconds
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0,
                     name + std::min<std::size_t>(path.size() - name, NAME_MAX - kLongestEnding)) +
         ".";
}

/// A new file with a name that nobody else has, or none and errno. Not by mkostemp, whose mode is
/// 0600: a new file of the user's should be as any other one of theirs, and to ask for the umask is
/// to change it, for all threads of a process that is not ours.
FileDescriptor create_beside(const std::string& path, mode_t mode, std::string& name) {
  constexpr int kMostTries = 100;
  for (int tries = 0; tries < kMostTries; ++tries) {
    name = format_text("%s%d-%llx", beginning_of_unfinished(path).c_str(),
                       static_cast<int>(::getpid()),
                       static_cast<unsigned long long>(system_clock().now_ns()));
    FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.is_open() || errno != EEXIST) return file;
  }
  return {};
}

/// The process that made a file with such an ending, if create_beside did.
std::optional<pid_t> writer_of(std::string_view ending) {
  constexpr std::size_t kFewestDigits = 8;  // nanoseconds since the machine was started
  const std::size_t dash = ending.find('-');
  if (dash == std::string_view::npos || ending.size() - dash - 1 < kFewestDigits ||
      ending.find_first_not_of("0123456789abcdef", dash + 1) != std::string_view::npos)
    return std::nullopt;
  const auto writer = parse_unsigned(ending.substr(0, dash));
  if (!writer || *writer == 0 || *writer > INT_MAX) return std::nullopt;
  return static_cast<pid_t>(*writer);
}

/// Makes a new file of ours as the one that it replaces. Where the owner or the group cannot be
/// kept, the rights that were meant for them are not given to others.
int dress_as(int file, const struct stat& replaced) {
  struct stat own {};
  if (::fstat(file, &own) != 0) return errno;
  mode_t mode = replaced.st_mode & 07777;
  const auto keep = [&](uid_t owner, gid_t group) { return ::fchown(file, owner, group) == 0; };
  if (own.st_gid != replaced.st_gid && !keep(static_cast<uid_t>(-1), replaced.st_gid))
    mode &= static_cast<mode_t>(~02070);
  if (own.st_uid != replaced.st_uid && !keep(replaced.st_uid, static_cast<gid_t>(-1)))
    mode &= static_cast<mode_t>(~04000);
  return ::fchmod(file, mode) == 0 ? 0 : errno;
}

/// Nothing can take the place of what is there, or stand beside it.
bool is_bound_to_place(int failure) {
  return failure == EACCES || failure == EPERM || failure == EROFS || failure == EBUSY ||
         failure == EXDEV || failure == ENAMETOOLONG;
}

/// From its beginning to its end, on disk; 0 or errno.
int set_content(int file, std::string_view content) {
  if (::lseek(file, 0, SEEK_SET) != 0) return errno;
  if (const int failure = write_all(file, content); failure != 0) return failure;
  if (::ftruncate(file, static_cast<off_t>(content.size())) != 0) return errno;
  return ::fsync(file) == 0 ? 0 : errno;
}

/// The last resort for a file that is there. Fails before it touches it where there is no room;
/// what was in it comes back if something else fails.
Status write_in_place(const std::string& path, const Destination& to, std::string_view content) {
  const FileDescriptor file(::open(to.path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return system_error(errno, "cannot write %s", path.c_str());
  const auto before = read_file(to.path);
  if (!before) return before.error();
  const auto room = static_cast<off_t>(content.size());
  if (room > 0 && ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, room) != 0 &&
      errno != EOPNOTSUPP && errno != ENOSYS)
    return system_error(errno, "cannot write %s", path.c_str());
  const int failure = set_content(file.get(), content);
  if (failure == 0) return {};
  if (set_content(file.get(), *before) != 0)
    return system_error(failure, "cannot write %s, which is damaged now", path.c_str());
  return system_error(failure, "cannot write %s", path.c_str());
}

/// So that the new name is there after a power failure. A file system that cannot has it anyway, or
/// never: the content is on disk.
void sync_folder_of(const std::string& path) {
  const FileDescriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) ::fsync(folder.get());
}

Error is_a_folder(const std::string& path) {
  return error(Code::bad_input, "cannot write %s: a folder, expected a file", path.c_str());
}

Status replace(const std::string& path, const Destination& to, std::string_view content) {
  // Until it is dressed nobody else reads what is perhaps for the owner only.
  const mode_t mode = to.existing ? 0600 : 0666;
  std::string temporary;
  FileDescriptor file = create_beside(to.path, mode, temporary);
  if (!file.is_open()) {
    if (to.existing && is_bound_to_place(errno)) return write_in_place(path, to, content);
    return system_error(errno, "cannot create a file beside %s", path.c_str());
  }
  int failure = to.existing ? dress_as(file.get(), *to.existing) : 0;
  if (failure == 0) failure = write_all(file.get(), content);
  if (failure == 0 && ::fsync(file.get()) != 0) failure = errno;
  file.close();
  if (failure == 0 && ::rename(temporary.c_str(), to.path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    ::unlink(temporary.c_str());
    if (to.existing && is_bound_to_place(failure)) return write_in_place(path, to, content);
    return system_error(failure, "cannot write %s", path.c_str());
  }
  sync_folder_of(to.path);
  return {};
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view content) {
  const auto to = destination_of(path);
  if (!to) return to.error();
  if (to->descriptor) return write_into(path, *to, content);
  if (!to->existing || S_ISREG(to->existing->st_mode)) return replace(path, *to, content);
  if (S_ISDIR(to->existing->st_mode)) return is_a_folder(path);
  return write_into(path, *to, content);
}

Status can_write_file(const std::string& path) {
  const auto to = destination_of(path);
  if (!to) return to.error();
  if (to->descriptor) return {};
  if (to->existing && S_ISDIR(to->existing->st_mode)) return is_a_folder(path);
  if (to->existing && ::access(to->path.c_str(), W_OK) == 0) return {};
  if (::access(folder_of(to->path).c_str(), W_OK | X_OK) == 0) return {};
  return system_error(errno, "cannot write %s", path.c_str());
}

bool is_place_of_file(const std::string& path) {
  const auto to = destination_of(path);
  return to && !to->descriptor && (!to->existing || S_ISREG(to->existing->st_mode));
}

void remove_unfinished(const std::string& path) {
  const auto to = destination_of(path);
  if (!to) return;
  const std::string beginning = beginning_of_unfinished(to->path);
  const std::string before = beginning.substr(beginning.rfind('/') + 1);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_of(to->path).c_str()),
                                                   ::closedir);
  const dirent* entry = nullptr;
  while (folder && (entry = ::readdir(folder.get())) != nullptr) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(before)) continue;
    const auto writer = writer_of(name.substr(before.size()));
    if (writer && ::kill(*writer, 0) != 0 && errno == ESRCH)
      ::unlinkat(::dirfd(folder.get()), entry->d_name, 0);
  }
}

}  // namespace ebb::base
