// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ebb::sites {

// What all tables of a run may take together: a count in a file of its folder, which every process
// of the job maps.

inline constexpr const char* kRoomFile = "sites-room";
inline constexpr std::uint64_t kRoomMagic = 0x316d6f6f72626265;  // "ebbroom1"
inline constexpr std::size_t kRoomBytes = 4096;

struct RoomPage {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> most;        ///< bytes
  std::atomic<std::uint64_t> taken;       ///< ever, by processes
  std::atomic<std::uint64_t> given_back;  ///< ever; by the supervisor alone, for those that ended
  std::atomic<std::uint64_t> refused;     ///< processes that have no table for want of room
};

/// The count as a process of the job sees it. Of static storage; without a file nothing bounds its
/// table but the table's own size. Calls nothing but the kernel.
class RoomShare {
 public:
  constexpr RoomShare() = default;

  void open(const char* folder);
  /// For a table: as long as there is any room for it.
  bool take_first(std::size_t bytes) { return take(bytes, 1); }
  /// For one to grow by: half of what is left at most, so that processes to come find some.
  bool take_more(std::size_t bytes) { return take(bytes, 2); }
  /// They were not needed after all.
  void put_back(std::size_t bytes);
  /// This process does without a table.
  void count_refused();

 private:
  bool take(std::size_t bytes, std::uint64_t parts);

  RoomPage* page_ = nullptr;
};

}  // namespace ebb::sites
