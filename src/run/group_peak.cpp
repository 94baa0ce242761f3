// SPDX-License-Identifier: Apache-2.0
#include "run/group_peak.h"

#include <unistd.h>

#include <algorithm>

#include "sense/cgroup_peak.h"
#include "sense/process.h"
#include "sense/process_tree.h"

namespace ebb::run {

void GroupPeak::begin(const sense::CgroupPlace& group) {
  group_ = group;
  before_.reset();
  if (is_own()) before_ = sense::peak_of_group(group_);
}

std::optional<std::uint64_t> GroupPeak::end() const {
  if (!before_ || !is_own()) return std::nullopt;
  const auto peak = sense::peak_of_group(group_);
  return peak && *peak > *before_ ? peak : std::nullopt;
}

bool GroupPeak::is_own() const {
  const auto inside = sense::processes_of_group(group_);
  if (!inside) return false;
  auto own = sense::descendants_of(::getpid()).value_or({});
  own.push_back(::getpid());
  return std::all_of(inside->begin(), inside->end(), [&](pid_t pid) {
    // One that came or ended between the two lists is known by its absence now.
    return std::find(own.begin(), own.end(), pid) != own.end() || !sense::read_process(pid);
  });
}

}  // namespace ebb::run
