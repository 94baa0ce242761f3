// SPDX-License-Identifier: Apache-2.0
#include "cache/pool.h"

#include <algorithm>

namespace ebb::cache {

Lane* Pool::find_other_lane(StreamId stream) {
  const auto at = std::lower_bound(lanes.begin(), lanes.end(), stream,
                                   [](const Lane* lane, StreamId s) { return lane->stream < s; });
  if (at == lanes.end() || (*at)->stream != stream) return nullptr;
  recent = *at;
  return recent;
}

}  // namespace ebb::cache
