// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "trace/memory_budget.h"

namespace ebb::trace {

/// A list that grows without copying and gives memory back to the system from either end: for the
/// millions of records of a file, which would not fit twice. Plain data only. Not thread-safe.
template <class T>
class Arena {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  explicit Arena(MemoryBudget& budget) : budget_(budget) {}

  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return chunks_[index / kChunk][index % kChunk]; }

  /// Throws std::bad_alloc where the system has no memory.
  void push_back(const T& item) {
    if (size_ == chunks_.size() * kChunk) add_chunk();
    (*this)[size_++] = item;
  }

  /// Forgets what lies behind the first `size` items; their memory is used again.
  void truncate(std::size_t size) { size_ = std::min(size_, size); }

  /// Moves items to the end of `out`, each chunk's memory given back as soon as it is empty: no
  /// item below `first + count` may be used any more. `change` is called for each one moved.
  template <class Change>
  void move_out(std::size_t first, std::size_t count, std::vector<T>& out, Change&& change) {
    out.reserve(out.size() + count);
    while (count > 0) {
      const std::size_t part = std::min(count, kChunk - first % kChunk);
      T* const items = &(*this)[first];
      for (std::size_t i = 0; i < part; ++i) {
        change(items[i]);
      }
      out.insert(out.end(), items, items + part);
      first += part;
      count -= part;
      release_until(first);
    }
  }

 private:
  static constexpr std::size_t kChunk = 1 << 14;
  static constexpr std::size_t kBytes = kChunk * sizeof(T);
  struct Unmap {
    void operator()(T* chunk) const { munmap(chunk, kBytes); }
  };

  void add_chunk() {
    budget_.make_room(chunks_);
    budget_.charge(kBytes);
    // Not malloc: what it has once had it may keep.
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    chunks_.emplace_back(static_cast<T*>(memory));
  }

  void release_until(std::size_t index) {
    for (; (released_ + 1) * kChunk <= index; ++released_) {
      chunks_[released_].reset();
      budget_.release(kBytes);
    }
  }

  MemoryBudget& budget_;
  std::vector<std::unique_ptr<T[], Unmap>> chunks_;
  std::size_t size_ = 0;
  std::size_t released_ = 0;  ///< chunks given back
};

}  // namespace ebb::trace
