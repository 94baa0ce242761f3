// SPDX-License-Identifier: Apache-2.0
#include "fl/card_cache.h"

namespace ebb::fl {

base::Reclaimed CardCache::reclaim() {
  base::Reclaimed reclaimed;
  const auto before = card_.read();
  card_.empty_cache();
  const auto after = card_.read();
  if (!before || !after) {
    reclaimed.detail = "what it holds of the card cannot be read";
    return reclaimed;
  }
  const auto change = base::DeviceChange::between(card_.index(), before->reserved, after->reserved);
  reclaimed.count = change.returned;
  reclaimed.detail = "bytes of the card";
  reclaimed.devices.push_back(change);
  return reclaimed;
}

}  // namespace ebb::fl
