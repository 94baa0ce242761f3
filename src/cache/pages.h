// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ebb::cache {

/// Zeroed memory for tables, straight from the kernel and aligned to `alignment` (a power of two of
/// at least a page): on huge pages where it is large enough, because a table that is read at random
/// costs a page walk per look otherwise. Aborts when there is none.
void* map_pages(std::size_t bytes, std::size_t alignment);
void unmap_pages(void* memory, std::size_t bytes);

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace ebb::cache
