// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup_peak.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"

namespace ebb::sense {

std::optional<std::uint64_t> peak_of_group(const CgroupPlace& place) {
  if (place.directories.empty()) return std::nullopt;
  const bool is_v2 = place.version == CgroupVersion::v2;
  const auto text = base::read_file(
      place.directories.front() + (is_v2 ? "/memory.peak" : "/memory.max_usage_in_bytes"), 1 << 10);
  if (!text) return std::nullopt;
  return base::parse_unsigned(base::trimmed(*text));
}

std::optional<std::vector<pid_t>> processes_of_group(const CgroupPlace& place) {
  if (place.directories.empty()) return std::nullopt;
  const std::string& folder = place.directories.front();
  const auto entries = base::entries_of(folder);
  if (!entries) return std::nullopt;
  for (const base::FolderEntry& entry : *entries)
    if (entry.is_folder) return std::nullopt;
  const auto text = base::read_file(folder + "/cgroup.procs", 1 << 24);
  if (!text) return std::nullopt;
  std::vector<pid_t> pids;
  for (const std::string_view word : base::words(*text)) {
    const auto pid = base::parse_unsigned(word);
    if (!pid || *pid > INT32_MAX) return std::nullopt;
    pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

}  // namespace ebb::sense
