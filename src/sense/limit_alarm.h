// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "sense/cgroup_place.h"

namespace ebb::sense {

/// Wakes poll() when a control group meets its limit: at every event of memory.events on v2; on v1
/// when its usage passes a few marks below the limit, and when nothing can be dropped any more. The
/// group itself is left as it is. Not thread-safe.
class LimitAlarm {
 public:
  LimitAlarm() = default;

  /// On every level that has a limit and can be asked; on none where this process may not.
  static LimitAlarm of(const CgroupPlace& place);

  /// What to poll for.
  std::vector<pollfd> sources() const;

  /// Takes note of what has happened, so that poll() wakes for what comes next.
  void quiet();

 private:
  struct Watched {
    base::FileDescriptor wakes;  ///< v2: the file; v1: an eventfd
    base::FileDescriptor about;  ///< v1: the file that the kernel watches
    short events = 0;
  };

  void watch_v2(const std::string& folder);
  void watch_v1(const std::string& folder);

  std::vector<Watched> watched_;
};

}  // namespace ebb::sense
