// SPDX-License-Identifier: Apache-2.0
#include "cache/trace.h"

namespace ebb::cache {

void TraceBuffer::append(const TraceEntry& entry) {
  if (entries_.size() < capacity_) {
    entries_.push_back(entry);
    return;
  }
  entries_[next_] = entry;
  if (++next_ >= capacity_) next_ = 0;
}

void TraceBuffer::clear() {
  entries_.clear();
  next_ = 0;
}

std::vector<TraceEntry> TraceBuffer::entries() const {
  std::vector<TraceEntry> ordered;
  ordered.reserve(entries_.size());
  const auto oldest = entries_.begin() + static_cast<std::ptrdiff_t>(next_);
  ordered.insert(ordered.end(), oldest, entries_.end());
  ordered.insert(ordered.end(), entries_.begin(), oldest);
  return ordered;
}

}  // namespace ebb::cache
