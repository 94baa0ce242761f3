// SPDX-License-Identifier: Apache-2.0
#include "run/live_sites.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "run/site_rows.h"
#include "sense/living_thread.h"
#include "sites/frame_names.h"
#include "sites/table_view.h"

namespace ebb::run {
namespace {

// Faster than this nobody reads, and a table has some megabytes.
constexpr double kLookEverySeconds = 1;
// Names are looked up of so many at each look.
constexpr std::size_t kMostStacks = 24;

/// The newest table that the process itself has mapped; a fork has its parent's as well. Empty
/// where there is none.
std::string table_of(pid_t pid) {
  std::string newest;
  std::uint64_t time = 0;
  const auto maps = base::read_file(sense::folder_to_read(pid) + "/maps");
  for (const std::string_view line : base::split(maps.value_or(""), '\n')) {
    const std::size_t path = line.find('/');
    if (path == std::string_view::npos) continue;
    const auto name = table_name(std::string(line.substr(line.rfind('/') + 1)));
    if (!name || name->pid != pid || name->time < time) continue;
    newest = line.substr(path);
    time = name->time;
  }
  return newest;
}

}  // namespace

const std::optional<std::vector<LiveSite>>& LiveSites::at(double now) {
  if (looked_ && now - *looked_ < kLookEverySeconds) return sites_;
  looked_ = now;
  look();
  return sites_;
}

void LiveSites::begin_with(const std::string& path) {
  path_ = path;
  first_.clear();
  names_.clear();
}

void LiveSites::look() {
  const std::string path = table_of(pid_);
  const auto view = sites::TableView::read(path);
  if (!view) {
    sites_.reset();
    return;
  }
  const bool is_first = path != path_;
  if (is_first) begin_with(path);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> largest;
  for (const auto& [stack, site] : view->sites) {
    largest.emplace_back(site.bytes, stack);
    if (is_first) first_[stack] = site.bytes;
  }
  std::sort(largest.rbegin(), largest.rend());
  if (largest.size() > kMostStacks) largest.resize(kMostStacks);
  std::set<std::uint32_t> unnamed;
  for (const auto& [bytes, stack] : largest)
    if (names_.count(stack) == 0) unnamed.insert(stack);
  const std::string root = sense::folder_to_read(pid_) + "/root";
  for (record::SiteName& name : site_names(path, unnamed, 0, {}, 0, root))
    names_[name.number] = std::move(name.frames);
  sites_.emplace();
  for (const auto& [bytes, stack] : largest) {
    const auto first = first_.find(stack);
    const std::uint64_t before = first == first_.end() ? 0 : first->second;
    sites_->push_back({names_[stack], bytes,
                       static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(before)});
  }
}

}  // namespace ebb::run
