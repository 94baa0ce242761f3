// SPDX-License-Identifier: Apache-2.0
#include "sites/room.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "sites/layout.h"
#include "sites/room_share.h"

namespace ebb::sites {
namespace {

/// As RoomPage, of a file that is only read and written.
struct RoomCopy {
  std::uint64_t magic, most, taken, given_back, refused;
};
static_assert(sizeof(RoomCopy) == sizeof(RoomPage));

base::FileDescriptor opened(const std::string& path, int flags) {
  return base::FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
}

}  // namespace

base::Result<Room> Room::make(const std::string& folder, std::uint64_t most) {
  const std::string path = folder + "/" + kRoomFile;
  const RoomCopy copy{kRoomMagic, std::max<std::uint64_t>(most, kSmallestTable), 0, 0, 0};
  char page[kRoomBytes] = {};
  std::memcpy(page, &copy, sizeof copy);
  const base::FileDescriptor file = opened(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open() || ::write(file.get(), page, sizeof page) != ssize_t{sizeof page})
    return base::system_error(errno, "cannot make %s", path.c_str());
  return Room(path, copy.most);
}

void Room::give_back(std::uint64_t bytes) {
  given_back_ += std::min<std::uint64_t>(bytes, kFileBytes);
  const base::FileDescriptor file = opened(path_, O_WRONLY);
  // A word at its own place is written at once; what fails leaves the others less room.
  if (!file.is_open() ||
      ::pwrite(file.get(), &given_back_, sizeof given_back_, offsetof(RoomCopy, given_back)) < 0)
    return;
}

std::uint64_t Room::refused() const {
  std::uint64_t count = 0;
  const base::FileDescriptor file = opened(path_, O_RDONLY | O_NONBLOCK);
  if (!file.is_open() || ::pread(file.get(), &count, sizeof count, offsetof(RoomCopy, refused)) !=
                             ssize_t{sizeof count})
    return 0;
  constexpr std::uint64_t kMost = 1 << 22;  // pids that there can be
  return std::min(count, kMost);
}

}  // namespace ebb::sites
