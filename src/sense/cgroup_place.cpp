// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup_place.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "sense/cgroup_text.h"
#include "sense/living_thread.h"

namespace ebb::sense {

using base::Code;
using base::Result;

namespace {

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

/// `group` as seen from `root`, "" for the same; nothing when it is not below it or cannot be
/// named from here ("/.." is how the kernel writes what lies outside of our namespace).
std::optional<std::string> below(const std::string& root, const std::string& group) {
  for (const std::string_view part : base::split(group, '/')) {
    if (part == "..") return std::nullopt;
  }
  if (group == root || (root == "/" && group == "/")) return "";
  if (root == "/") return group;
  if (group.size() > root.size() && group.compare(0, root.size(), root) == 0 &&
      group[root.size()] == '/') {
    return group.substr(root.size());
  }
  return std::nullopt;
}

struct Chain {
  std::vector<std::string> directories;
  bool from_root = false;  ///< the mount shows its hierarchy from the namespace's root
};

/// The group's directory and its ancestors up to the mount point, through the mount that shows
/// most of them; of several alike the last, which lies on top.
Chain chain_of(const std::string& group, bool v2, const std::vector<CgroupMount>& mounts,
               const Roots& roots) {
  Chain best;
  for (const CgroupMount& mount : mounts) {
    if (mount.v2 != v2) continue;
    const auto path = below(mount.root, group);
    if (!path) continue;
    const std::string top = roots.mounts + mount.point;
    std::string directory = top + *path;
    if (!exists(directory)) continue;
    Chain chain;
    chain.from_root = mount.root == "/";
    while (directory.size() > top.size()) {
      chain.directories.push_back(directory);
      directory.resize(directory.rfind('/'));
    }
    chain.directories.push_back(top);
    if (chain.directories.size() >= best.directories.size()) best = std::move(chain);
  }
  return best;
}

/// The true root of a hierarchy is the one group without cgroup.type (v2), the one with
/// release_agent (v1).
bool is_true_root(const Chain& chain, bool v2) {
  if (!chain.from_root || chain.directories.empty()) return false;
  const std::string& top = chain.directories.back();
  return v2 ? !exists(top + "/cgroup.type") : exists(top + "/release_agent");
}

bool is_mounted(bool v2, const std::vector<CgroupMount>& mounts) {
  return std::any_of(mounts.begin(), mounts.end(),
                     [&](const CgroupMount& mount) { return mount.v2 == v2; });
}

CgroupPlace place_of(const GroupNames& names, const std::vector<CgroupMount>& mounts,
                     const Roots& roots) {
  CgroupPlace place;
  Chain unified;
  if (names.unified) unified = chain_of(*names.unified, true, mounts, roots);
  if (!unified.directories.empty()) {
    const std::string pressure = unified.directories.front() + "/memory.pressure";
    if (exists(pressure)) place.pressure_file = pressure;
  }

  if (names.memory_v1) {
    Chain chain = chain_of(*names.memory_v1, false, mounts, roots);
    place.version = CgroupVersion::v1;
    place.hybrid = is_mounted(true, mounts);
    place.group = *names.memory_v1;
    place.ancestors_hidden = !is_true_root(chain, false);
    place.directories = std::move(chain.directories);
    return place;
  }

  if (!names.unified || !is_mounted(true, mounts)) return place;
  const bool sees_all = is_true_root(unified, true);
  // A group without the memory controller is charged to the nearest ancestor that has it.
  std::vector<std::string>& groups = unified.directories;
  while (!groups.empty() && !exists(groups.front() + "/memory.stat")) {
    groups.erase(groups.begin());
    ++place.unaccounted;
  }
  if (groups.empty() && sees_all) return place;
  place.version = CgroupVersion::v2;
  place.group = *names.unified;
  place.ancestors_hidden = !sees_all;
  place.directories = std::move(groups);
  return place;
}

Result<std::optional<std::string>> read_if_there(const std::string& path) {
  Result<std::string> text = base::read_file(path);
  if (text) return std::optional<std::string>(*std::move(text));
  if (text.error().code == Code::not_found) return std::optional<std::string>();
  return text.error();
}

}  // namespace

const char* name_of(CgroupVersion version) {
  switch (version) {
    case CgroupVersion::none:
      return "none";
    case CgroupVersion::v1:
      return "v1";
    case CgroupVersion::v2:
      return "v2";
  }
  return "none";
}

std::string group_above(const CgroupPlace& place, std::size_t levels) {
  std::string group = place.group;
  for (levels += place.unaccounted; levels > 0 && group != "/"; --levels)
    group.resize(std::max<std::size_t>(group.rfind('/'), 1));
  return group;
}

Result<CgroupPlace> find_cgroup(pid_t pid, const Roots& roots) {
  // Version 1 shows a process whose first thread has ended as one of the root.
  const std::string folder = folder_to_read(pid, roots);
  const auto group_text = read_if_there(folder + "/cgroup");
  if (!group_text) return group_text.error();
  if (!*group_text) {
    if (exists(folder)) return CgroupPlace{};
    return no_such_process(pid, roots);
  }
  const auto names = parse_group_names(**group_text, folder + "/cgroup");
  if (!names) return names.error();

  const std::string mountinfo = folder_to_read(kSelf, roots) + "/mountinfo";
  const auto mount_text = read_if_there(mountinfo);
  if (!mount_text) return mount_text.error();
  if (!*mount_text) return CgroupPlace{};
  const auto mounts = parse_cgroup_mounts(**mount_text, mountinfo);
  if (!mounts) return mounts.error();
  return place_of(*names, *mounts, roots);
}

}  // namespace ebb::sense
