// SPDX-License-Identifier: Apache-2.0
#include "cache/address_map.h"

namespace ebb::cache {

void AddressMap::rebuild(std::size_t slots) {
  Slot* old = slots_;
  const std::size_t old_slots = old == nullptr ? 0 : mask_ + 1;
  const std::size_t bytes = slots * sizeof(Slot);
  slots_ = static_cast<Slot*>(map_pages(bytes, bytes >= kHugePage ? kHugePage : 4096));
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  for (std::size_t i = 0; i < old_slots; ++i) {
    if (old[i] != 0) place(block_of(old[i]));
  }
  if (old != nullptr) unmap_pages(old, old_slots * sizeof(Slot));
}

}  // namespace ebb::cache
