// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// sites: who holds a job's memory. A shared object of its own (hooks.cpp) samples allocations
// inside the job and keeps the live ones in a file that the supervisor reads; the rest of the
// folder reads that file and gives its addresses names.
//
// What runs inside the job (table, tally, unwind, python_frames, hooks) allocates nothing, throws
// nothing, takes no lock and calls nothing of the dynamic loader once it is loaded.

namespace ebb::sites {

// The file of one process, which it maps and others read. All of it is private to one machine and
// one build of Ebb: the magic changes with the layout. Offsets count from the beginning of the
// file.
//
//   0       Header
//   4 KiB   data: stacks, texts and modules, written once, one behind the other
//   2 MiB   entries: live samples, in levels; each level doubles their number

inline constexpr std::uint64_t kMagic = 0x3273657469736265;  // "ebsites2"
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kDataEnd = std::size_t{2} << 20;
inline constexpr std::size_t kStep = std::size_t{64} << 10;  ///< by which data grow
inline constexpr std::size_t kSlotsInSet = 8;
inline constexpr std::size_t kFirstSets = 256;  ///< of level 0; level i > 0 has 2^(i-1) times that
inline constexpr std::size_t kLevels = 7;

/// A live sample. `address` 0: free, 1: being filled.
struct Entry {
  std::atomic<std::uint64_t> address;
  std::atomic<std::uint64_t> size;  ///< as it was asked for
  /// Bits 0-31 the stack's offset, 32-39 the shift of the distance that it was sampled at, 40-63 a
  /// uniform draw: which of the samples stay when the table is thinned.
  std::atomic<std::uint64_t> about;
  std::atomic<std::uint64_t> milliseconds;  ///< since Header::began
};

inline constexpr std::size_t kFirstEntryBytes = kFirstSets * kSlotsInSet * sizeof(Entry);
inline constexpr std::size_t kFileBytes = kDataEnd + (kFirstEntryBytes << (kLevels - 1));

/// What a table takes to begin with.
inline constexpr std::size_t kSmallestTable = kStep + kFirstEntryBytes;

/// Sets in a level, and where it begins among all entries.
constexpr std::size_t sets_in(std::size_t level) {
  return level == 0 ? kFirstSets : kFirstSets << (level - 1);
}
constexpr std::size_t first_set_of(std::size_t level) {
  return level == 0 ? 0 : kFirstSets << (level - 1);
}

inline constexpr std::uint64_t kBaseDistance = 512 << 10;  ///< bytes between samples, on average

struct Header {
  std::atomic<std::uint64_t> magic;  ///< written last
  std::atomic<std::uint64_t> pid;
  std::atomic<std::uint64_t> began_ns;   ///< of the monotonic clock
  std::atomic<std::uint64_t> data_used;  ///< bytes behind the header
  std::atomic<std::uint64_t> levels;
  std::atomic<std::uint64_t> modules;    ///< offset of the newest; 0 none
  std::atomic<std::uint64_t> thinned;    ///< shift of the distance that live samples stand for
  std::atomic<std::uint64_t> samples;    ///< ever taken
  std::atomic<std::uint64_t> dropped;    ///< of them, for which there was no room
  std::atomic<std::uint64_t> no_python;  ///< taken on a Python thread whose frames are off
  std::atomic<std::uint64_t> spent_ns;   ///< in sampling
  std::atomic<std::uint64_t> python;     ///< minor version whose frames are read; 0 none
  std::atomic<std::uint64_t> slower;     ///< shift by which the time budget widens the distance
  std::atomic<std::uint64_t> last_ns;    ///< when the newest sample was taken
  std::atomic<std::uint64_t> room;       ///< bytes that the table takes of the run's (room_share.h)
};
static_assert(sizeof(Header) <= kHeaderBytes);

// Records of the data, each at a multiple of 8.

struct RecordHead {
  std::uint32_t bytes;  ///< of what follows
  std::uint32_t hash;
};

/// A call in Python: offsets of two texts, and a line.
struct PythonCall {
  std::uint32_t file;
  std::uint32_t function;
  std::uint32_t line;
};

/// Behind it the return addresses of native calls, innermost first, and the calls in Python.
struct StackHead {
  std::uint16_t native;
  std::uint16_t python;
  /// The native calls end where the interpreter's loop begins.
  std::uint32_t is_joined;
};

/// Behind it the path of its file.
struct ModuleHead {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t bias;  ///< what addresses in the file are moved by
  std::uint64_t next;  ///< offset of the one before; 0 none
};

inline constexpr std::size_t kMostNative = 48;
inline constexpr std::size_t kMostPython = 32;

}  // namespace ebb::sites
