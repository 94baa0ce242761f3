// SPDX-License-Identifier: Apache-2.0
#include "sites/room_share.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace ebb::sites {

void RoomShare::open(const char* folder) {
  char path[400];
  const std::size_t length = std::strlen(folder);
  if (length + 32 > sizeof path) return;
  std::memcpy(path, folder, length);
  path[length] = '/';
  std::memcpy(path + length + 1, kRoomFile, std::strlen(kRoomFile) + 1);
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
  if (file < 0) return;
  // What lies beyond its end must not be touched: a full disk leaves it empty.
  const bool is_whole = ::syscall(SYS_lseek, file, 0L, long{SEEK_END}) >= long{kRoomBytes};
  void* const made = is_whole ? reinterpret_cast<void*>(::syscall(SYS_mmap, nullptr, kRoomBytes,
                                                                  long{PROT_READ | PROT_WRITE},
                                                                  long{MAP_SHARED}, file, 0L))
                              : MAP_FAILED;
  ::syscall(SYS_close, file);
  if (made == MAP_FAILED) return;
  auto* page = static_cast<RoomPage*>(made);
  if (page->magic.load(std::memory_order_acquire) == kRoomMagic) page_ = page;
}

bool RoomShare::take(std::size_t bytes, std::uint64_t parts) {
  if (page_ == nullptr) return true;
  const std::uint64_t most = page_->most.load(std::memory_order_relaxed);
  std::uint64_t taken = page_->taken.load(std::memory_order_relaxed);
  do {
    const std::uint64_t back = page_->given_back.load(std::memory_order_relaxed);
    const std::uint64_t used = taken > back ? taken - back : 0;
    const std::uint64_t left = most > used ? most - used : 0;
    if (bytes > left / parts) return false;
  } while (!page_->taken.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
  return true;
}

void RoomShare::put_back(std::size_t bytes) {
  if (page_ != nullptr) page_->taken.fetch_sub(bytes, std::memory_order_relaxed);
}

void RoomShare::count_refused() {
  if (page_ != nullptr) page_->refused.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ebb::sites
