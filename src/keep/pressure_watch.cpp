// SPDX-License-Identifier: Apache-2.0
#include "keep/pressure_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

#include "base/own_thread.h"
#include "base/signals_blocked.h"
#include "base/text.h"

namespace ebb::keep {
namespace {

using base::Code;
using base::FileDescriptor;

base::Result<FileDescriptor> open_source(const std::string& path, bool& is_stream) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return base::system_error(errno, "MEMORY_PRESSURE_WATCH: cannot open %s", path.c_str());
  is_stream = S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode);
  if (S_ISSOCK(info.st_mode)) {
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      return base::error(Code::bad_input, "MEMORY_PRESSURE_WATCH: %s is too long for a socket",
                         path.c_str());
    std::memcpy(address.sun_path, path.c_str(), path.size());
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      return base::system_error(errno, "MEMORY_PRESSURE_WATCH: cannot connect to %s", path.c_str());
    return socket;
  }
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open())
    return base::system_error(errno, "MEMORY_PRESSURE_WATCH: cannot open %s", path.c_str());
  return file;
}

}  // namespace

base::Result<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto bad = [] { return base::error(Code::bad_input, "not base64"); };
  if (text.size() % 4 != 0) return bad();
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    int padding = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const char c = text[i + j];
      const std::size_t value = kAlphabet.find(c);
      const bool may_pad = i + 4 == text.size() && j >= 2;
      if (c == '=' && may_pad) {
        ++padding;
      } else if (value == std::string_view::npos || padding > 0) {
        return bad();
      }
      group = group << 6 | (c == '=' ? 0 : static_cast<std::uint32_t>(value));
    }
    for (int k = 2; k >= padding; --k)
      bytes += static_cast<char>(group >> (8 * k) & 0xFF);
  }
  return bytes;
}

base::Result<std::unique_ptr<PressureWatch>> PressureWatch::start(const Environment& environment,
                                                                  Callback callback) {
  const std::optional<std::string> path = environment("MEMORY_PRESSURE_WATCH");
  if (!path || path->empty() || *path == "/dev/null") return std::unique_ptr<PressureWatch>();
  bool is_stream = false;
  base::Result<FileDescriptor> source = open_source(*path, is_stream);
  if (!source) return source.error();
  if (const auto encoded = environment("MEMORY_PRESSURE_WRITE"); encoded && !encoded->empty()) {
    const base::Result<std::string> bytes = decode_base64(*encoded);
    if (!bytes) return base::error(Code::bad_input, "MEMORY_PRESSURE_WRITE: expected base64");
    if (::write(source->get(), bytes->data(), bytes->size()) < 0)
      return base::system_error(errno, "MEMORY_PRESSURE_WRITE: cannot arm %s", path->c_str());
  }
  FileDescriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop.is_open()) return base::system_error(errno, "cannot make an eventfd");
  // PSI files signal a priority event; FIFOs and sockets become readable.
  const short events = is_stream ? POLLIN : POLLPRI;
  return std::unique_ptr<PressureWatch>(
      new PressureWatch(*std::move(source), std::move(stop), events, std::move(callback)));
}

PressureWatch::PressureWatch(FileDescriptor source, FileDescriptor stop, short events,
                             Callback callback)
    : source_(std::move(source)),
      stop_(std::move(stop)),
      events_(events),
      callback_(std::move(callback)) {
  const base::SignalsBlocked blocked;
  thread_ = std::thread([this] { loop(); });
}

PressureWatch::~PressureWatch() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.get(), &one, sizeof one));
  thread_.join();
}

void PressureWatch::after_fork_in_child() {
  // The old one names a thread that can be neither joined nor let go here; it owns nothing.
  new (&thread_) std::thread;
}

void PressureWatch::loop() {
  const base::OwnThread own;
  while (true) {
    std::array<pollfd, 2> waiting{{{source_.get(), events_, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    if (waiting[1].revents != 0) return;
    if ((waiting[0].revents & events_) != 0) {
      std::array<char, 256> ignored;
      while (events_ == POLLIN && ::read(source_.get(), ignored.data(), ignored.size()) > 0) {
      }
      try {
        callback_();
      } catch (const std::exception&) {
        // Out of memory, most likely: what leaves a thread would end the job.
      }
    } else if (waiting[0].revents != 0) {
      return;  // the other side is gone; nobody will ask again
    }
  }
}

}  // namespace ebb::keep
