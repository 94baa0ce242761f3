// SPDX-License-Identifier: Apache-2.0
#include "sites/table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sites/tally.h"

namespace ebb::sites {
namespace {

constexpr std::uint64_t kFree = 0;
constexpr std::uint64_t kBusy = 1;
constexpr std::uint8_t kAlways = 255;  // of a place in the filter: it stays

std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x9E3779B97F4A7C15ULL;
  return value ^ value >> 29;
}

std::uint64_t hash_of(const void* bytes, std::size_t size, std::uint64_t hash) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (; size >= 8; at += 8, size -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = mixed(hash ^ word);
  }
  std::uint64_t word = size;
  if (size > 0) std::memcpy(&word, at, size);
  return mixed(hash ^ word ^ std::uint64_t{size} << 56);
}

/// By the kernel directly: the program may have put its own close() in place of the C library's.
void close_file(int file) {
  ::syscall(SYS_close, file);
}

int open_file(const char* path, int flags) {
  return static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/// Takes room on the disk for a part of the file.
bool give_room(int file, std::size_t from, std::size_t bytes) {
  if (::syscall(SYS_fallocate, file, 0, from, bytes) == 0) return true;
  if (errno != EOPNOTSUPP) return false;
  static constexpr char kZeros[4096] = {};
  for (std::size_t done = 0; done < bytes; done += sizeof kZeros)
    if (::syscall(SYS_pwrite64, file, kZeros, sizeof kZeros, from + done) !=
        static_cast<long>(sizeof kZeros))
      return false;
  return true;
}

/// Zero but for what is to stay. What was never touched stays so, and takes no memory.
template <class T, std::size_t kCount>
void clear(std::atomic<T> (&places)[kCount], T staying) {
  for (auto& place : places) {
    const T value = place.load(std::memory_order_relaxed);
    if (value != 0 && value != staying) place.store(0, std::memory_order_relaxed);
  }
}

bool may_write_file() {
  rlimit most{};
  return ::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur >= kFileBytes;
}

}  // namespace

bool Table::open(const char* path, std::uint64_t pid, RoomShare* share) {
  // Beyond that limit the kernel would end the job.
  if (!may_write_file() || std::strlen(path) >= sizeof path_) return false;
  if (share != nullptr && !share->take_first(kSmallestTable)) {
    share->count_refused();
    return false;
  }
  if (make(path, pid)) {
    share_ = share;
    return true;
  }
  if (share != nullptr) share->put_back(kSmallestTable);
  return false;
}

bool Table::make(const char* path, std::uint64_t pid) {
  const int file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
  if (file < 0) return false;
  const bool has_room = ::syscall(SYS_ftruncate, file, kFileBytes) == 0 &&
                        give_room(file, 0, kStep) && give_room(file, kDataEnd, kFirstEntryBytes);
  // In a forked child this takes the place of the parent's.
  void* const at = reinterpret_cast<void*>(base_);
  // Every argument as wide as the kernel reads it: of a narrower one the rest is not defined.
  const long flags = MAP_SHARED | (at != nullptr ? MAP_FIXED : 0);
  void* const made =
      has_room ? reinterpret_cast<void*>(::syscall(
                     SYS_mmap, at, kFileBytes, long{PROT_READ | PROT_WRITE}, flags, long{file}, 0L))
               : MAP_FAILED;
  close_file(file);
  if (made == MAP_FAILED) {
    ::syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return false;
  }
  std::memcpy(path_, path, std::strlen(path) + 1);
  base_ = static_cast<unsigned char*>(made);
  is_growing_ = false;
  data_room_ = kStep - kHeaderBytes;
  clear(filter_, kAlways);
  clear(index_, std::uint32_t{0});
  clear(modules_, std::uint64_t{0});
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  header().pid = pid;
  header().began_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                      static_cast<std::uint64_t>(now.tv_nsec);
  header().levels = 1;
  header().room = kSmallestTable;
  header().magic.store(kMagic, std::memory_order_release);
  return true;
}

bool Table::grow_file(std::size_t from, std::size_t bytes) {
  if (share_ != nullptr && !share_->take_more(bytes)) return false;
  // A descriptor that was kept might be the job's own by now: some close all that they find.
  const int file = open_file(path_, O_RDWR);
  const bool is_given = file >= 0 && give_room(file, from, bytes);
  if (file >= 0) close_file(file);
  if (is_given) header().room.fetch_add(bytes, std::memory_order_relaxed);
  if (!is_given && share_ != nullptr) share_->put_back(bytes);
  return is_given;
}

void Table::mark(std::uint64_t address) {
  filter_[place_of(address)].store(kAlways, std::memory_order_relaxed);
}

void Table::unmark(std::uint64_t address) {
  auto& place = filter_[place_of(address)];
  std::uint8_t count = place.load(std::memory_order_relaxed);
  while (count != 0 && count != kAlways &&
         !place.compare_exchange_weak(count, static_cast<std::uint8_t>(count - 1),
                                      std::memory_order_relaxed)) {
  }
}

Entry* Table::set_of(std::size_t level, std::uint64_t address) const {
  auto* entries = reinterpret_cast<Entry*>(base_ + kDataEnd);
  const std::size_t set = first_set_of(level) + mixed(address >> 4) % sets_in(level);
  return entries + set * kSlotsInSet;
}

bool Table::insert_into(Entry* set, std::uint64_t address, const Kept& kept) {
  for (std::size_t i = 0; i < kSlotsInSet; ++i) {
    std::uint64_t free = kFree;
    if (set[i].address.load(std::memory_order_relaxed) != kFree ||
        !set[i].address.compare_exchange_strong(free, kBusy, std::memory_order_acquire))
      continue;
    set[i].size.store(kept.size, std::memory_order_relaxed);
    set[i].about.store(kept.about, std::memory_order_relaxed);
    set[i].milliseconds.store(kept.milliseconds, std::memory_order_relaxed);
    set[i].address.store(address, std::memory_order_release);
    return true;
  }
  return false;
}

unsigned Table::thinned() const {
  return static_cast<unsigned>(header().thinned.load(std::memory_order_relaxed));
}

void Table::insert(std::uint64_t address, const Kept& kept) {
  auto& place = filter_[place_of(address)];
  std::uint8_t count = place.load(std::memory_order_relaxed);
  while (count != kAlways &&
         !place.compare_exchange_weak(count, static_cast<std::uint8_t>(count + 1),
                                      std::memory_order_relaxed)) {
  }
  header().samples.fetch_add(1, std::memory_order_relaxed);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::size_t levels = header().levels.load(std::memory_order_acquire);
    for (std::size_t level = 0; level < levels; ++level)
      if (insert_into(set_of(level, address), address, kept)) return;
    // Whoever finds somebody else at it does without this sample.
    if (is_growing_.exchange(true, std::memory_order_acquire)) break;
    if (!grow_entries()) thin();
    is_growing_.store(false, std::memory_order_release);
    const auto shift = static_cast<unsigned>(kept.about >> 32 & 0xFF);
    if (!stays(kept.size, shift, thinned(), static_cast<std::uint32_t>(kept.about >> 40))) {
      unmark(address);
      return;
    }
  }
  header().dropped.fetch_add(1, std::memory_order_relaxed);
  unmark(address);
}

bool Table::remove(std::uint64_t address, Kept* kept) {
  if (base_ == nullptr) return false;
  const std::size_t levels = header().levels.load(std::memory_order_acquire);
  for (std::size_t level = 0; level < levels; ++level) {
    Entry* const set = set_of(level, address);
    for (std::size_t i = 0; i < kSlotsInSet; ++i) {
      std::uint64_t expected = address;
      if (set[i].address.load(std::memory_order_acquire) != address) continue;
      *kept = {set[i].size.load(std::memory_order_relaxed),
               set[i].about.load(std::memory_order_relaxed),
               set[i].milliseconds.load(std::memory_order_relaxed)};
      // It may be thinned away at this moment: then that was it.
      if (!set[i].address.compare_exchange_strong(expected, kFree, std::memory_order_acq_rel))
        return false;
      unmark(address);
      return true;
    }
  }
  return false;
}

bool Table::grow_entries() {
  const std::size_t levels = header().levels.load(std::memory_order_relaxed);
  if (levels >= kLevels) return false;
  constexpr std::size_t kSetBytes = kSlotsInSet * sizeof(Entry);
  if (!grow_file(kDataEnd + first_set_of(levels) * kSetBytes, sets_in(levels) * kSetBytes))
    return false;
  header().levels.store(levels + 1, std::memory_order_release);
  return true;
}

void Table::thin() {
  const unsigned shift = thinned() + 1;
  if (shift > 30) return;
  header().thinned.store(shift, std::memory_order_relaxed);
  const std::size_t levels = header().levels.load(std::memory_order_relaxed);
  auto* entry = reinterpret_cast<Entry*>(base_ + kDataEnd);
  const Entry* const end = entry + (first_set_of(levels - 1) + sets_in(levels - 1)) * kSlotsInSet;
  for (; entry != end; ++entry) {
    std::uint64_t address = entry->address.load(std::memory_order_acquire);
    if (address == kFree || address == kBusy) continue;
    const std::uint64_t about = entry->about.load(std::memory_order_relaxed);
    const std::uint64_t size = entry->size.load(std::memory_order_relaxed);
    if (stays(size, static_cast<unsigned>(about >> 32 & 0xFF), shift,
              static_cast<std::uint32_t>(about >> 40)))
      continue;
    if (entry->address.compare_exchange_strong(address, kFree, std::memory_order_acq_rel))
      unmark(address);
  }
}

std::uint64_t Table::reserve(std::size_t bytes) {
  bytes = (bytes + 7) / 8 * 8;
  std::uint64_t used = header().data_used.load(std::memory_order_relaxed);
  do {
    if (used + bytes > kDataEnd - kHeaderBytes) return 0;
    if (used + bytes > data_room_.load(std::memory_order_acquire)) {
      if (is_growing_.exchange(true, std::memory_order_acquire)) return 0;
      const std::uint64_t room = data_room_.load(std::memory_order_relaxed);
      const std::uint64_t more =
          room + kStep <= kDataEnd - kHeaderBytes ? kStep : kDataEnd - kHeaderBytes - room;
      const bool is_given = grow_file(kHeaderBytes + room, more);
      if (is_given) data_room_.store(room + more, std::memory_order_release);
      is_growing_.store(false, std::memory_order_release);
      if (!is_given) return 0;
    }
  } while (
      !header().data_used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return kHeaderBytes + used;
}

std::uint32_t Table::add_record(const void* head, std::size_t head_bytes, const void* body,
                                std::size_t body_bytes, const void* tail, std::size_t tail_bytes) {
  const std::size_t bytes = head_bytes + body_bytes + tail_bytes;
  std::uint64_t hash = hash_of(head, head_bytes, bytes);
  hash = hash_of(tail, tail_bytes, hash_of(body, body_bytes, hash));
  const auto short_hash = static_cast<std::uint32_t>(hash >> 32);
  std::uint64_t made = 0;
  for (std::size_t probe = 0; probe < 64; ++probe) {
    auto& slot = index_[(hash + probe) % kIndexSlots];
    std::uint32_t known = slot.load(std::memory_order_acquire);
    if (known == 0) {
      if (made == 0) {
        made = reserve(sizeof(RecordHead) + bytes);
        if (made == 0) return 0;
        const RecordHead about{static_cast<std::uint32_t>(bytes), short_hash};
        unsigned char* to = base_ + made;
        std::memcpy(to, &about, sizeof about);
        to += sizeof about;
        if (head_bytes > 0) std::memcpy(to, head, head_bytes);
        if (body_bytes > 0) std::memcpy(to + head_bytes, body, body_bytes);
        if (tail_bytes > 0) std::memcpy(to + head_bytes + body_bytes, tail, tail_bytes);
      }
      if (slot.compare_exchange_strong(known, static_cast<std::uint32_t>(made),
                                       std::memory_order_acq_rel))
        return static_cast<std::uint32_t>(made);
    }
    RecordHead there{};
    std::memcpy(&there, base_ + known, sizeof there);
    if (there.hash != short_hash || there.bytes != bytes) continue;
    const unsigned char* at = base_ + known + sizeof there;
    if ((head_bytes == 0 || std::memcmp(at, head, head_bytes) == 0) &&
        (body_bytes == 0 || std::memcmp(at + head_bytes, body, body_bytes) == 0) &&
        (tail_bytes == 0 || std::memcmp(at + head_bytes + body_bytes, tail, tail_bytes) == 0))
      return known;
  }
  return 0;
}

std::uint32_t Table::add_text(std::string_view text) {
  return add_record(nullptr, 0, text.data(), text.size(), nullptr, 0);
}

std::uint32_t Table::add_stack(const std::uint64_t* native, std::size_t natives,
                               const PythonCall* python, std::size_t pythons, bool is_joined) {
  const StackHead head{static_cast<std::uint16_t>(natives), static_cast<std::uint16_t>(pythons),
                       is_joined ? 1U : 0U};
  return add_record(&head, sizeof head, native, natives * sizeof *native, python,
                    pythons * sizeof *python);
}

void Table::add_module(std::uint64_t start, std::uint64_t end, std::uint64_t bias,
                       const char* path) {
  const std::uint64_t hash = mixed(start ^ mixed(end ^ reinterpret_cast<std::uint64_t>(path))) | 1;
  for (std::size_t probe = 0; probe < 16; ++probe) {
    auto& slot = modules_[(hash + probe) % kModuleSlots];
    std::uint64_t known = slot.load(std::memory_order_relaxed);
    if (known == hash) return;
    if (known != 0 || !slot.compare_exchange_strong(known, hash, std::memory_order_relaxed))
      continue;
    const std::size_t length = std::strlen(path);
    const std::size_t bytes = sizeof(ModuleHead) + length;
    const std::uint64_t made = length < 4096 ? reserve(sizeof(RecordHead) + bytes) : 0;
    if (made == 0) return;
    const RecordHead about{static_cast<std::uint32_t>(bytes), 0};
    ModuleHead head{start, end, bias, header().modules.load(std::memory_order_relaxed)};
    std::memcpy(base_ + made, &about, sizeof about);
    std::memcpy(base_ + made + sizeof about + sizeof head, path, length);
    do {
      std::memcpy(base_ + made + sizeof about, &head, sizeof head);
    } while (!header().modules.compare_exchange_weak(head.next, made, std::memory_order_acq_rel));
    return;
  }
}

}  // namespace ebb::sites
