// SPDX-License-Identifier: Apache-2.0
#include "run/outside_group.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "keep/ledger.h"
#include "keep/memory_split.h"
#include "run/group_memory.h"
#include "run/member.h"
#include "run/samples.h"
#include "sense/cgroup.h"
#include "sense/mapping_sums.h"
#include "sense/process.h"

namespace ebb::run {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
  std::error_code failure;
  return fs::exists(path, failure);
}

/// The place of the group at `folder`; with version none where it accounts no memory.
sense::CgroupPlace place_at(const std::string& folder) {
  sense::CgroupPlace place;
  place.group = folder;
  place.directories = {folder};
  if (is_there(folder + "/memory.current")) {
    place.version = sense::CgroupVersion::v2;
  } else if (is_there(folder + "/memory.usage_in_bytes")) {
    place.version = sense::CgroupVersion::v1;
  }
  return place;
}

/// The folder that `path` names: itself, or below the root of the groups that this process sees.
base::Result<sense::CgroupPlace> find_group(const std::string& path) {
  std::vector<std::string> folders{path};
  const auto own = sense::find_cgroup();
  if (own && !own->directories.empty()) {
    const std::string& root = own->directories.back();
    folders.push_back(root + (path.starts_with("/") ? "" : "/") + path);
  }
  for (std::string folder : folders) {
    while (folder.size() > 1 && folder.ends_with('/'))
      folder.pop_back();
    sense::CgroupPlace place = place_at(folder);
    if (place.version != sense::CgroupVersion::none) return place;
  }
  return base::error(base::Code::bad_input,
                     "%s: no control group that accounts memory, expected its folder below "
                     "/sys/fs/cgroup, or its name as in /proc/PID/cgroup",
                     path.c_str());
}

/// Of the group and of all below it.
std::vector<pid_t> processes_below(const std::string& folder) {
  std::vector<std::string> folders{folder};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string above = folders[i];
    for (const base::FolderEntry& entry : base::entries_of(above).value_or({}))
      if (entry.is_folder) folders.push_back(above + "/" + entry.name);
  }
  std::vector<pid_t> pids;
  for (const std::string& one : folders) {
    const auto text = base::read_file(one + "/cgroup.procs", 1 << 24);
    for (const std::string_view word : base::words(text.value_or(""))) {
      const auto pid = base::parse_unsigned(word);
      if (pid && *pid > 0 && *pid <= INT32_MAX) pids.push_back(static_cast<pid_t>(*pid));
    }
  }
  return pids;
}

}  // namespace

base::Result<fact::MemorySplit> look_at_group(const std::string& path) {
  const auto place = find_group(path);
  if (!place) return place.error();
  std::vector<keep::GroupMember> members;
  std::size_t unread = 0;
  for (const pid_t pid : processes_below(place->directories.front())) {
    auto reading = sense::read_process_exact(pid);
    if (!reading) reading = sense::read_process(pid);
    if (!reading) {
      if (reading.error().code != base::Code::not_found) ++unread;
      continue;
    }
    keep::GroupMember member;
    member.pid = pid;
    member.name = command_of(pid);
    member.is_python = keep::runs_python(member.name);
    member.memory = sample_of(*reading, {}, 0).memory;
    member.memory.shared = reading->shared;
    if (auto sums = sense::read_mapping_sums(pid)) member.mappings = keep::parts_of(*sums);
    members.push_back(std::move(member));
  }
  // Last, so that what the readings above took is in it.
  const auto group = sense::read_cgroup(*place);
  if (!group) return group.error();
  const sense::CgroupMemory memory = group->memory();
  if (!memory.usage) {
    return base::error(base::Code::unavailable, "%s: the kernel does not tell what it holds",
                       path.c_str());
  }
  fact::MemorySplit split = keep::split_of(group_memory_of(memory), members);
  split.limit = group->limit;
  split.fix = {};  // it lives
  if (unread > 0) {
    split.notes.push_back(
        base::format_text("%zu processes may not be read; in unexplained", unread));
  }
  return split;
}

}  // namespace ebb::run
