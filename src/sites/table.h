// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sites/layout.h"
#include "sites/room_share.h"

namespace ebb::sites {

/// The live samples of this process, in a file that outlives it (layout.h). Of static storage: it
/// is used before constructors run. Every function may be called from any thread at any time, also
/// from a signal handler: nothing waits, nothing allocates.
class Table {
 public:
  constexpr Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// Makes the file `path`, which must not be there, with room of its own on the disk, so that
  /// writing to it cannot fail later; what the table held before is forgotten. `share`: what it may
  /// take of the run's room, from now on; null where nothing bounds it. Not thread-safe.
  bool open(const char* path, std::uint64_t pid, RoomShare* share = nullptr);

  /// Whether `address` may be a live sample or marked; a false alarm now and then.
  bool may_hold(std::uint64_t address) const {
    return filter_[place_of(address)].load(std::memory_order_relaxed) != 0;
  }
  /// may_hold() is true of it from now on.
  void mark(std::uint64_t address);

  /// The offset of a record of these bytes, which is made where there is none; 0 where there is no
  /// room.
  std::uint32_t add_text(std::string_view text);
  std::uint32_t add_stack(const std::uint64_t* native, std::size_t natives,
                          const PythonCall* python, std::size_t pythons, bool is_joined);
  /// A module is told once.
  void add_module(std::uint64_t start, std::uint64_t end, std::uint64_t bias, const char* path);

  /// What is kept of a sample.
  struct Kept {
    std::uint64_t size;
    std::uint64_t about;
    std::uint64_t milliseconds;
  };
  static std::uint64_t about_of(std::uint32_t stack, unsigned shift, std::uint32_t draw) {
    return stack | std::uint64_t{shift & 0xFF} << 32 | std::uint64_t{draw} << 40;
  }

  /// Before the address is handed to the program. A full table grows or is thinned.
  void insert(std::uint64_t address, const Kept& kept);
  /// Before the address goes back to the allocator, by whom it may be given to another thread at
  /// once. False where it is no sample.
  bool remove(std::uint64_t address, Kept* kept);

  /// The shift of the distance that live samples stand for.
  unsigned thinned() const;
  Header& header() const { return *reinterpret_cast<Header*>(base_); }

 private:
  bool make(const char* path, std::uint64_t pid);

  static constexpr std::size_t kFilterBytes = 64 << 10;
  static constexpr std::size_t kIndexSlots = 16 << 10;
  static constexpr std::size_t kModuleSlots = 1024;

  /// Neighbours stay neighbours: whoever frees and takes the same few blocks finds their places in
  /// the nearest cache.
  static std::size_t place_of(std::uint64_t address) {
    return (address >> 4 ^ (address >> 20) * 0x9E3779B1) % kFilterBytes;
  }
  void unmark(std::uint64_t address);
  Entry* set_of(std::size_t level, std::uint64_t address) const;
  bool insert_into(Entry* set, std::uint64_t address, const Kept& kept);
  bool grow_entries();
  void thin();
  std::uint32_t add_record(const void* head, std::size_t head_bytes, const void* body,
                           std::size_t body_bytes, const void* tail, std::size_t tail_bytes);
  std::uint64_t reserve(std::size_t bytes);
  bool grow_file(std::size_t from, std::size_t bytes);

  unsigned char* base_ = nullptr;
  RoomShare* share_ = nullptr;
  char path_[400] = {};
  std::atomic<bool> is_growing_{false};
  std::atomic<std::uint64_t> data_room_{0};  ///< bytes behind the header that have their place
  std::atomic<std::uint8_t> filter_[kFilterBytes] = {};
  std::atomic<std::uint32_t> index_[kIndexSlots] = {};
  std::atomic<std::uint64_t> modules_[kModuleSlots] = {};
};

}  // namespace ebb::sites
