// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fact/cleanup.h"
#include "heap/detect.h"

// heap: the malloc this process runs on. Detect it, read it, make it give back. One file per
// allocator behind one interface.

namespace ebb::heap {

/// Something an allocator knows beyond the common figures, under the allocator's own name.
struct Detail {
  std::string name;
  std::uint64_t value = 0;
};

/// A full reading. What an allocator cannot tell is absent, and `cannot_tell` says why.
struct HeapReading {
  std::optional<std::uint64_t> live;        ///< allocated and not freed
  std::optional<std::uint64_t> retained;    ///< resident, held by the allocator, not live
  std::optional<std::uint64_t> active;      ///< live in whole pages, where those are counted
  std::optional<std::uint64_t> mapped;      ///< held from the system, resident or not
  std::optional<std::uint64_t> releasable;  ///< what a light give-back returns, where it is counted
  std::vector<Detail> details;
  std::vector<std::string> cannot_tell;
};

/// What a give-back did. Whether it helped is a difference of RSS, which the caller measures.
struct GiveBack {
  fact::Depth depth = fact::Depth::light;
  bool attempted = false;            ///< false where this allocator has nothing to call
  std::optional<int> native_result;  ///< the allocator's own return value; proves nothing
  std::vector<std::string> steps;    ///< the calls made, in order
  std::vector<std::string> notes;    ///< lasting side effects and limits
};

/// One allocator's controls. Thread-safe as far as malloc itself is; never call it from a signal
/// handler.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;

  virtual AllocatorKind kind() const = 0;
  /// As the allocator says it, e.g. "2.36" or "5.3.0-0-g54eaed1d"; empty where it does not say.
  virtual std::string version() const = 0;
  /// False where the allocator was recognised but nothing of it can be called.
  virtual bool controllable() const = 0;

  /// Costs time that grows with the heap: glibc walks its free chunks, and pages are counted.
  virtual HeapReading read() = 0;

  virtual GiveBack give_back(fact::Depth depth) = 0;

  /// While pressure lasts, freed memory goes back as soon as the allocator can be told to do so
  /// (decay of zero); false ends it and restores what was set before. Returns what was changed,
  /// for the report; empty where the allocator has no such switch or nothing changed.
  virtual std::string set_pressure(bool on) {
    static_cast<void>(on);
    return {};
  }

  /// Threads that come from now on share the arenas that are there, or one. For jobs whose threads
  /// take turns, as Python's do: what one thread freed then serves the next one. For the rest of
  /// the process's life. False where the allocator has no such switch.
  virtual bool share_arenas() { return false; }
};

/// The controls for what was detected; falls back to one that says what it cannot do.
std::unique_ptr<HostAllocator> make_host_allocator(const Detection& detection);

/// The controls for this process. Built once, lives for ever. Thread-safe.
HostAllocator& host_allocator();

}  // namespace ebb::heap
