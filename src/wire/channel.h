// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "wire/message.h"
#include "wire/socket_folder.h"

namespace ebb::wire {

/// One end of a connection. Records arrive whole or not at all. Never blocks on sending, never
/// raises SIGPIPE. Not thread-safe.
class Channel {
 public:
  explicit Channel(base::FileDescriptor socket);

  /// Whether the descriptor still is the socket it was: a job that closes all descriptors and opens
  /// files of its own must not find records in them.
  bool is_ours() const;

  /// Code::unavailable where the other end is gone or its queue is full.
  base::Status send(const Message& message) const;

  /// The next record; nothing where none is there yet (`wait` false). Code::not_found when the
  /// other end is gone, Code::bad_input for bytes that are not a record.
  base::Result<std::optional<Message>> receive(bool wait = false) const;

  int descriptor() const { return socket_.get(); }

  /// Forgets the descriptor without closing it: the job uses it for something else by now.
  void abandon();

 private:
  base::FileDescriptor socket_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// As Channel::receive(true), for a thread that must not hold the channel while it waits.
base::Result<std::optional<Message>> receive_from(int descriptor, bool wait = true);

/// Connects to a supervisor. The descriptor lies high, where jobs do not count on their own. With
/// `wait` false, Code::unavailable where many others wait to be let in.
base::Result<Channel> connect(const std::string& path, bool wait = true);

/// Who is at the other end, by the kernel's word.
struct Peer {
  pid_t pid = 0;
  uid_t user = 0;
};
base::Result<Peer> peer_of(const Channel& channel);

/// Where agents of this user's processes connect: a socket in a folder of its own, removed with the
/// object.
class Listener {
 public:
  static base::Result<Listener> open();

  /// The next agent that waits; nothing where none does. Others than this user's processes and
  /// root's are turned away.
  std::optional<Channel> accept() const;

  int descriptor() const { return socket_.get(); }
  const std::string& path() const { return folder_.socket(); }

 private:
  explicit Listener(SocketFolder folder) : folder_(std::move(folder)) {}

  SocketFolder folder_;
  base::FileDescriptor socket_;
};

}  // namespace ebb::wire
