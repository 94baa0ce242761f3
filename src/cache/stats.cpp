// SPDX-License-Identifier: Apache-2.0
#include "cache/stats.h"

namespace ebb::cache {

void Stats::reset_peaks() {
  for (PooledCounter& counter : pooled) {
    counter.reset_peak();
  }
  oversize_allocations.reset_peak();
  oversize_segments.reset_peak();
}

void Stats::reset_sums() {
  for (PooledCounter& counter : pooled) {
    counter.reset_sums();
  }
  oversize_allocations.reset_sums();
  oversize_segments.reset_sums();
  num_alloc_retries = num_ooms = num_sync_all_streams = 0;
  num_device_alloc = num_device_free = num_oom_rejections = 0;
}

}  // namespace ebb::cache
