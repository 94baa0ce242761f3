// SPDX-License-Identifier: Apache-2.0
#include "cache/memory_resource.h"

#include <algorithm>
#include <new>

#include "base/check.h"

namespace ebb::cache {

void* MemoryResource::do_allocate(std::size_t bytes, std::size_t alignment) {
  const Address address = alignment <= kMinBlock
                              ? allocator_.try_allocate(std::max<std::size_t>(bytes, 1), stream_)
                              : 0;
  if (address == 0) throw std::bad_alloc();
  // PyTorch up to 2.3 may leave sizes, and with them addresses, unrounded.
  if (address % alignment != 0) {
    allocator_.free(address);
    throw std::bad_alloc();
  }
  return reinterpret_cast<void*>(address);
}

void MemoryResource::do_deallocate(void* pointer, std::size_t, std::size_t) {
  EBB_CHECK(allocator_.free(reinterpret_cast<Address>(pointer)));
}

bool MemoryResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  const auto* resource = dynamic_cast<const MemoryResource*>(&other);
  return resource != nullptr && &resource->allocator_ == &allocator_;
}

}  // namespace ebb::cache
