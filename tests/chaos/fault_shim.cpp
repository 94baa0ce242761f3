// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process it makes chosen calls fail, as a full disk, a lack of memory or a clock
// would, or ends the process there.
//
//   EBB_FAULT="in=ebb call=write errno=28 from=3 times=1 report=FILE under=FOLDER torn=1"
//   EBB_FAULT="in=ebb call=malloc errno=12 from=3 times=1 report=FILE at=PLACE"
//
// in      ebb: all calls of the program of that name, which then starts its children without this
//         library; agent, libebb: calls that the code of libebb-agent.so or libebb.so makes, in any
//         process
// call    one of those below; `disk` for all that change files: `write`, `sync`, `rename`, `mkdir`,
//         `unlink`, and `open` to write
// errno   how it fails; 0: the process is killed in place of the call
// from    the first call that fails, counted from 1; 0: none
// times   how many fail from there on; 0: all
// report  a line `fault NUMBER CALL PLACE` for each call that was made to fail; where none is to
//         fail, `call NUMBER CALL PLACE` for each; otherwise `site NUMBER CALL PLACE` for the first
//         from each place. PLACE is the object's name and the offset in it; of `malloc` those of
//         its callers, up to the second that is no C++ library's, with `<` between them
// under   only calls about what lies in that folder (may be left out)
// at      `from` counts only those from the place with this hash of its name (fault_places.h); all
//         that follow may fail, wherever they come from (may be left out)
// torn    where the first that fails is a write, half of it is written (may be left out)
//
// The call `clock` does not fail: from then on the time of day is `errno` hours later (or earlier).
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fault_places.h"

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* block, std::size_t size);

namespace {

struct Order {
  bool active = false;
  bool agent_only = false;
  bool library_only = false;
  char call[24] = {};
  long error = 0;
  std::atomic<long> from{0};  ///< 0: not known, or none
  long from_there = 0;        ///< of the calls at one place
  bool counts = false;
  long times = 1;
  int torn = 0;
  char under[200] = {};
  std::uint64_t at = 0;
  int report = -1;
  std::uintptr_t agent_begin = 0;
  std::uintptr_t agent_end = 0;
};

Order order;
std::atomic<long> calls{0};
std::atomic<long> calls_there{0};  // from the place `at`
/// What is called in here is not counted. Static storage: this library is there from the start.
__attribute__((tls_model("initial-exec"))) thread_local bool is_inside = false;

int find_agent(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  if (std::strstr(object->dlpi_name, "libebb-agent") == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    order.agent_begin = object->dlpi_addr + part.p_vaddr;
    order.agent_end = order.agent_begin + part.p_memsz;
  }
  return 1;
}

void tell(const char* what, const char* call, long number, const void* caller) {
  if (order.report < 0) return;
  char place[400] = "";
  name_place(place, sizeof place, caller, std::strcmp(call, "malloc") == 0);
  char line[480];
  const int length = std::snprintf(line, sizeof line, "%s %ld %s %s\n", what, number, call, place);
  if (length > 0) ::syscall(SYS_write, order.report, line, static_cast<std::size_t>(length));
}

/// What a call is about: an open file, a path, or neither.
struct Subject {
  int descriptor = -1;
  const char* path = nullptr;
  bool is_changed = true;  ///< as far as it is a file
};

bool is_meant(const char* call, const Subject& subject) {
  if (std::strcmp(order.call, "disk") != 0) {
    if (std::strcmp(call, order.call) != 0) return false;
  } else if (!subject.is_changed || (subject.descriptor < 0 && subject.path == nullptr)) {
    return false;
  }
  if (order.under[0] == '\0') return true;
  char link[40];
  char name[512] = "";
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", subject.descriptor);
  if (subject.path == nullptr && subject.descriptor >= 0)
    ::syscall(SYS_readlinkat, AT_FDCWD, link, name, sizeof name - 1);
  return std::strncmp(subject.path != nullptr ? subject.path : name, order.under,
                      std::strlen(order.under)) == 0;
}

/// Loaded at any time, so that it is looked for with each call.
bool is_in_library(const void* caller) {
  Dl_info object{};
  return ::dladdr(caller, &object) != 0 && object.dli_fname != nullptr &&
         std::strstr(object.dli_fname, "libebb.so") != nullptr;
}

/// The number of a call that is one of those that fail, counted from 1; 0 of any other.
long hit(const char* call, const void* caller, const Subject& subject) {
  if (!order.active || is_inside) return 0;
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  if (order.agent_only && (place < order.agent_begin || place >= order.agent_end)) return 0;
  is_inside = true;
  long which = 0;
  if (is_meant(call, subject) && (!order.library_only || is_in_library(caller))) {
    const long number = ++calls;
    if (order.at != 0 && hash_of_place(caller) == order.at && ++calls_there == order.from_there)
      order.from = number;
    const long from = order.from;
    if (order.counts)
      tell("call", call, number, caller);
    else if (order.at == 0 && is_new_place(caller))
      tell("site", call, number, caller);
    if (from > 0 && number >= from && (order.times == 0 || number < from + order.times))
      which = number - from + 1;
    if (which > 0) tell("fault", call, number, caller);
  }
  is_inside = false;
  return which;
}

void end_or_set_errno() {
  if (order.error == 0) ::syscall(SYS_kill, ::getpid(), SIGKILL);
  errno = static_cast<int>(order.error);
}

/// Whether this call is one of those that fail; sets errno then.
bool fails(const char* call, const void* caller, const Subject& subject = {}) {
  if (hit(call, caller, subject) == 0) return false;
  if (std::strcmp(call, "clock") != 0) end_or_set_errno();
  return true;
}

/// By its file: `ebb` becomes `ebb-simulate` with the words that it was started with.
bool is_program(const char* name) {
  char file[512] = "";
  ::syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", file, sizeof file - 1);
  const char* slash = std::strrchr(file, '/');
  return slash != nullptr && std::strcmp(slash + 1, name) == 0;
}

__attribute__((constructor)) void take_order() {
  const char* text = std::getenv("EBB_FAULT");
  if (text == nullptr) return;
  char where[16] = "";
  char report[200] = "";
  long from = 0;
  if (std::sscanf(text,
                  "in=%15s call=%23s errno=%ld from=%ld times=%ld report=%199s under=%199s torn=%d",
                  where, order.call, &order.error, &from, &order.times, report, order.under,
                  &order.torn) < 6)
    return;
  if (const char* at = std::strstr(text, " at=")) {
    order.at = std::strtoull(at + 4, nullptr, 16);
    order.from_there = from;
  } else {
    order.from = from;
  }
  order.counts = from == 0;
  order.agent_only = std::strcmp(where, "agent") == 0;
  order.library_only = std::strcmp(where, "libebb") == 0;
  if (order.agent_only) {
    ::dl_iterate_phdr(find_agent, nullptr);
    if (order.agent_begin == 0) return;
  } else if (!order.library_only) {
    if (!is_program(where)) return;
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("EBB_FAULT");
  }
  const int low = ::open(report, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (low >= 0) {
    order.report = ::fcntl(low, F_DUPFD_CLOEXEC, 1100);
    ::syscall(SYS_close, low);
  }
  order.active = true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// NAME(parameters) as the C library has it, but for calls that are to fail.
#define EBB_FAILING_ON(result, failure, name, call, parameters, arguments, ...)         \
  extern "C" result name parameters {                                                   \
    if (fails(call, __builtin_return_address(0), Subject{__VA_ARGS__})) return failure; \
    static const auto real = next<result(*) parameters>(#name);                         \
    return real arguments;                                                              \
  }
#define EBB_FAILING(result, failure, name, call, parameters, arguments) \
  EBB_FAILING_ON(result, failure, name, call, parameters, arguments)

namespace {

/// A write, perhaps torn: as the kernel does it where the disk becomes full within one.
template <class Write>
ssize_t written(const void* caller, int fd, size_t size, Write write) {
  const long which = hit("write", caller, {fd});
  if (which == 0) return write(size);
  if (which == 1 && order.torn != 0 && size > 1) {
    const ssize_t half = write(size / 2);
    if (order.error != 0) return half;
  }
  end_or_set_errno();
  return -1;
}

}  // namespace

extern "C" ssize_t write(int fd, const void* from, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return written(__builtin_return_address(0), fd, size,
                 [&](size_t part) { return real(fd, from, part); });
}
extern "C" ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return written(__builtin_return_address(0), fd, size,
                 [&](size_t part) { return real(fd, from, part, at); });
}

EBB_FAILING(ssize_t, -1, read, "read", (int fd, void* to, size_t size), (fd, to, size))
EBB_FAILING(ssize_t, -1, pread64, "read", (int fd, void* to, size_t size, off64_t at),
            (fd, to, size, at))
EBB_FAILING_ON(int, -1, fsync, "sync", (int fd), (fd), fd)
EBB_FAILING_ON(int, -1, fdatasync, "sync", (int fd), (fd), fd)
EBB_FAILING_ON(int, -1, ftruncate64, "write", (int fd, off64_t size), (fd, size), fd)
EBB_FAILING_ON(int, static_cast<int>(order.error), posix_fallocate, "write",
               (int fd, off_t from, off_t size), (fd, from, size), fd)
EBB_FAILING_ON(int, -1, rename, "rename", (const char* from, const char* to), (from, to), -1, to)
EBB_FAILING_ON(int, -1, mkdir, "mkdir", (const char* path, mode_t mode), (path, mode), -1, path)
EBB_FAILING_ON(int, -1, unlink, "unlink", (const char* path), (path), -1, path)
EBB_FAILING_ON(int, -1, remove, "unlink", (const char* path), (path), -1, path)
EBB_FAILING_ON(int, -1, mkostemp, "open", (char* path, int flags), (path, flags), -1, path)
EBB_FAILING(int, -1, socket, "socket", (int domain, int type, int protocol),
            (domain, type, protocol))
EBB_FAILING(int, -1, bind, "socket", (int fd, const sockaddr* address, socklen_t size),
            (fd, address, size))
EBB_FAILING(int, -1, listen, "socket", (int fd, int backlog), (fd, backlog))
EBB_FAILING(int, -1, connect, "connect", (int fd, const sockaddr* address, socklen_t size),
            (fd, address, size))
EBB_FAILING(int, -1, accept4, "accept", (int fd, sockaddr* address, socklen_t* size, int flags),
            (fd, address, size, flags))
EBB_FAILING(ssize_t, -1, send, "send", (int fd, const void* from, size_t size, int flags),
            (fd, from, size, flags))
EBB_FAILING(ssize_t, -1, recv, "recv", (int fd, void* to, size_t size, int flags),
            (fd, to, size, flags))
EBB_FAILING(int, -1, poll, "poll", (pollfd * sources, nfds_t count, int timeout),
            (sources, count, timeout))
EBB_FAILING(int, static_cast<int>(order.error), pthread_create, "thread",
            (pthread_t * thread, const pthread_attr_t* how, void* (*run)(void*), void* with),
            (thread, how, run, with))
EBB_FAILING(void*, MAP_FAILED, mmap64, "mmap",
            (void* at, size_t size, int rights, int flags, int fd, off64_t from),
            (at, size, rights, flags, fd, from))
EBB_FAILING(int, -1, pipe2, "pipe", (int ends[2], int flags), (ends, flags))
EBB_FAILING(int, -1, signalfd, "pipe", (int fd, const sigset_t* signals, int flags),
            (fd, signals, flags))
EBB_FAILING(pid_t, -1, fork, "fork", (), ())

// What a sweep asks besides.
EBB_FAILING(ssize_t, -1, pread, "pread", (int fd, void* to, size_t size, off_t at),
            (fd, to, size, at))
EBB_FAILING(ssize_t, -1, pwrite, "room", (int fd, const void* from, size_t size, off_t at),
            (fd, from, size, at))
EBB_FAILING(int, -1, ftruncate, "room", (int fd, off_t size), (fd, size))
EBB_FAILING(int, -1, fallocate, "room", (int fd, int mode, off_t from, off_t size),
            (fd, mode, from, size))
EBB_FAILING(DIR*, nullptr, opendir, "list", (const char* path), (path))
EBB_FAILING(int, -1, stat, "stat", (const char* path, struct stat* to), (path, to))
EBB_FAILING(int, -1, lstat, "stat", (const char* path, struct stat* to), (path, to))
EBB_FAILING(int, -1, fstat, "stat", (int fd, struct stat* to), (fd, to))
EBB_FAILING(int, -1, fstatat, "stat", (int fd, const char* path, struct stat* to, int flags),
            (fd, path, to, flags))
EBB_FAILING(int, -1, access, "access", (const char* path, int how), (path, how))
EBB_FAILING(ssize_t, -1, readlink, "access", (const char* path, char* to, size_t size),
            (path, to, size))
EBB_FAILING(char*, nullptr, mkdtemp, "folder", (char* path), (path))
EBB_FAILING(int, -1, rmdir, "folder", (const char* path), (path))
EBB_FAILING(int, -1, unlinkat, "folder", (int fd, const char* path, int flags), (fd, path, flags))
EBB_FAILING(int, -1, flock, "lock", (int fd, int how), (fd, how))
EBB_FAILING(int, -1, eventfd, "event", (unsigned count, int flags), (count, flags))
EBB_FAILING(int, -1, timerfd_create, "event", (int clock, int flags), (clock, flags))
EBB_FAILING(ssize_t, -1, sendmsg, "message", (int fd, const msghdr* what, int flags),
            (fd, what, flags))
EBB_FAILING(ssize_t, -1, recvmsg, "message", (int fd, msghdr* to, int flags), (fd, to, flags))

extern "C" int open64(const char* path, int flags, ...) {
  if (fails("open", __builtin_return_address(0), {-1, path, (flags & O_ACCMODE) != O_RDONLY}))
    return -1;
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode));
}

extern "C" int open(const char* path, int flags, ...) {
  if (fails("open", __builtin_return_address(0), {-1, path, (flags & O_ACCMODE) != O_RDONLY}))
    return -1;
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" int clock_gettime(clockid_t which, timespec* now) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int status = real(which, now);
  if (which == CLOCK_REALTIME && fails("clock", __builtin_return_address(0)))
    now->tv_sec += 3600 * order.error;
  return status;
}

#ifdef EBB_FAULT_MALLOC
// In a library of its own: who defines malloc is the process's allocator to whoever looks.
extern "C" void* malloc(std::size_t size) {
  return fails("malloc", __builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
  return fails("malloc", __builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
extern "C" void* realloc(void* block, std::size_t size) {
  return fails("malloc", __builtin_return_address(0)) ? nullptr : __libc_realloc(block, size);
}
#endif
