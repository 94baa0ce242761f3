// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory_resource>

#include "cache/allocator.h"

namespace ebb::cache {

/// An Allocator as a std::pmr::memory_resource, for containers and C++ libraries. Addresses become
/// pointers: containers that touch them need a driver whose memory is the host's (`mmap`). All
/// requests are made on one stream. Thread-safe. As the standard demands, and unlike the rest of
/// this library, it throws std::bad_alloc: when there is no memory, and for alignments above 512.
class MemoryResource final : public std::pmr::memory_resource {
 public:
  /// The allocator outlives the resource.
  explicit MemoryResource(Allocator& allocator, StreamId stream = 0)
      : allocator_(allocator), stream_(stream) {}

  Allocator& allocator() const { return allocator_; }
  StreamId stream() const { return stream_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t alignment) override;
  /// Memory of one may be given back through the other when they share the allocator.
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  Allocator& allocator_;
  StreamId stream_;
};

}  // namespace ebb::cache
