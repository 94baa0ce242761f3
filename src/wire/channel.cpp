// SPDX-License-Identifier: Apache-2.0
#include "wire/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ebb::wire {
namespace {

// Above what shells, select() and loops that close "all" descriptors count on.
constexpr int kHighDescriptor = 800;

base::Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::error(base::Code::bad_input, "socket '%s': expected 1 to %zu characters",
                       path.c_str(), sizeof address.sun_path - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

base::FileDescriptor moved_high(base::FileDescriptor socket) {
  const int high = ::fcntl(socket.get(), F_DUPFD_CLOEXEC, kHighDescriptor);
  return high >= 0 ? base::FileDescriptor(high) : std::move(socket);
}

}  // namespace

Channel::Channel(base::FileDescriptor socket) : socket_(std::move(socket)) {
  struct stat status {};
  if (::fstat(socket_.get(), &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

bool Channel::is_ours() const {
  struct stat status {};
  return socket_.is_open() && ::fstat(socket_.get(), &status) == 0 && S_ISSOCK(status.st_mode) &&
         status.st_dev == device_ && status.st_ino == inode_;
}

base::Status Channel::send(const Message& message) const {
  Buffer buffer;
  const std::span<const std::byte> record = encode(message, buffer);
  const ssize_t sent =
      ::send(socket_.get(), record.data(), record.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(record.size())) return {};
  return base::error(base::Code::unavailable, "the other end does not take a record: %s",
                     std::strerror(errno));
}

base::Result<std::optional<Message>> Channel::receive(bool wait) const {
  return receive_from(socket_.get(), wait);
}

base::Result<std::optional<Message>> receive_from(int descriptor, bool wait) {
  Buffer buffer;
  ssize_t got = 0;
  do {
    got = ::recv(descriptor, buffer.data(), buffer.size(), MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT));
    // An end that goes with something unread is told of first, once; what it said is still there.
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::optional<Message>();
  if (got <= 0) return base::error(base::Code::not_found, "the other end is gone");
  if (static_cast<std::size_t>(got) > buffer.size())
    return base::error(base::Code::bad_input, "record of %zd bytes, too long", got);
  auto message = decode(std::span(buffer.data(), static_cast<std::size_t>(got)));
  if (!message) return message.error();
  return std::optional<Message>(*message);
}

void Channel::abandon() {
  static_cast<void>(socket_.release());
}

base::Result<Channel> connect(const std::string& path, bool wait) {
  const auto address = address_of(path);
  if (!address) return address.error();
  const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK);
  base::FileDescriptor socket(::socket(AF_UNIX, type, 0));
  if (!socket.is_open()) return base::system_error(errno, "cannot make a socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return base::system_error(errno, "cannot connect to %s", path.c_str());
  if (!wait && ::fcntl(socket.get(), F_SETFL, 0) != 0)
    return base::system_error(errno, "cannot wait on a socket");
  return Channel(moved_high(std::move(socket)));
}

base::Result<Peer> peer_of(const Channel& channel) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(channel.descriptor(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return base::system_error(errno, "cannot tell who is at the other end");
  return Peer{credentials.pid, credentials.uid};
}

base::Result<Listener> Listener::open() {
  auto folder = SocketFolder::make();
  if (!folder) return folder.error();
  Listener listener(*std::move(folder));
  const auto address = address_of(listener.path());
  if (!address) return address.error();
  listener.socket_ =
      base::FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket_.is_open()) return base::system_error(errno, "cannot make a socket");
  const auto* plain = reinterpret_cast<const sockaddr*>(&*address);
  if (::bind(listener.socket_.get(), plain, sizeof *address) != 0 ||
      ::listen(listener.socket_.get(), 256) != 0) {
    return base::system_error(errno, "cannot listen on %s", listener.path().c_str());
  }
  return listener;
}

std::optional<Channel> Listener::accept() const {
  while (true) {
    base::FileDescriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) return std::nullopt;
    Channel channel(std::move(socket));
    const auto peer = peer_of(channel);
    if (peer && (peer->user == ::geteuid() || peer->user == 0)) return channel;
  }
}

}  // namespace ebb::wire
