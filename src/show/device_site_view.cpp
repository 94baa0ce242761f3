// SPDX-License-Identifier: Apache-2.0
#include "show/device_site_view.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "show/flame_stacks.h"
#include "show/site_files.h"
#include "show/site_rows.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::format_text;
using replay::DeviceHolder;

SiteRow row_of(const fact::SiteStack& frames, std::uint64_t bytes) {
  SiteRow row;
  row.frames = frames;
  row.bytes = bytes;
  return row;
}

SiteRows empty_rows() {
  SiteRows rows;
  rows.per = rows.per_long = "step";
  return rows;
}

SiteRows lines_of(const replay::DeviceSites& sites) {
  SiteRows all = empty_rows();
  for (const replay::DeviceSite& site : sites.sites) {
    SiteRow row = row_of(site.frames, site.held.bytes);
    row.has_other_callers = site.has_other_callers;
    row.share = site.share;
    // From the first moment on, or from before it.
    if (site.since && *site.since > 0) row.since = site.since;
    if (site.growth) row.growth = site.growth->per_step;
    if (site.growth) row.growth_share = site.growth->share;
    all.rows.push_back(std::move(row));
  }
  return all;
}

std::string blocks_text(const replay::HeldBlocks& held) {
  return format_text("%s in %llu block%s", bytes_text(held.bytes).c_str(),
                     static_cast<unsigned long long>(held.blocks), held.blocks == 1 ? "" : "s");
}

const char* then_text(replay::HeldAt at) {
  switch (at) {
    case replay::HeldAt::failure:
      return "when the request failed";
    case replay::HeldAt::peak:
      return "at the peak";
    case replay::HeldAt::end:
      break;
  }
  return "at the end";
}

/// What has no line is told, and is no site.
std::string counted_text(const replay::DeviceSites& sites) {
  std::string text = blocks_text(sites.live) + " " + then_text(sites.at);
  if (sites.no_stack.blocks > 0) text += "; " + blocks_text(sites.no_stack) + " without a stack";
  if (sites.before_history.blocks > 0)
    text += "; " + blocks_text(sites.before_history) + " from before the history";
  return text;
}

const char* name_of(DeviceHolder::Kind kind) {
  switch (kind) {
    case DeviceHolder::Kind::no_stack:
      return "no stack recorded";
    case DeviceHolder::Kind::before_history:
      return "before the history";
    default:
      return "smaller places";
  }
}

}  // namespace

std::string device_sites_text(const replay::DeviceSites& sites, std::size_t column) {
  if (!sites.has_stacks) return "";
  return rows_text(lines_of(sites), column) +
         format_text("%-*s%s\n", static_cast<int>(column), "live", counted_text(sites).c_str());
}

page::FlameGraph device_sites_flame(const replay::DeviceSites& sites, int device) {
  page::FlameGraph flame;
  if (!sites.has_stacks) return flame;
  flame.title = "Who holds it";
  flame.note = "Memory by the calls that allocated it: live is " + counted_text(sites) +
               "; click a call to widen it";
  flame.measures = {{"live", page::Unit::bytes}, {"growth a step", page::Unit::bytes}};
  const bool has_moments = sites.moments.size() > 1;
  if (has_moments) flame.moments.assign(sites.moments.begin(), sites.moments.end());
  flame.moments_unit = page::Unit::count;
  flame.moments_name = "allocations and frees";
  const std::string root = "device " + std::to_string(device);
  FlameStacks stacks(flame);
  for (const DeviceHolder& holder : sites.holders) {
    page::FlameStack& stack = holder.kind == DeviceHolder::Kind::place
                                  ? stacks.of(root, root, holder.frames)
                                  : stacks.of(root, name_of(holder.kind));
    // Names are cut: stacks that differ may read alike.
    stack.values[0] += static_cast<double>(holder.bytes);
    stack.values[1] += holder.per_step;
    if (!has_moments) continue;
    stack.held.resize(sites.moments.size(), 0);
    for (std::size_t i = 0; i < stack.held.size(); ++i)
      stack.held[i] += static_cast<double>(holder.over_time[i]);
  }
  return flame;
}

base::Status write_site_files(const std::vector<replay::SnapshotDiagnosis>& diagnoses,
                              const std::string& subject, const std::string& pprof,
                              const std::string& collapsed) {
  if (pprof.empty() && collapsed.empty()) return {};
  const bool has_stacks =
      std::any_of(diagnoses.begin(), diagnoses.end(),
                  [](const replay::SnapshotDiagnosis& one) { return one.sites.has_stacks; });
  if (!has_stacks) {
    return base::error(base::Code::bad_input,
                       "%s: no stacks were recorded, expected a snapshot after "
                       "torch.cuda.memory._record_memory_history()",
                       subject.c_str());
  }
  SiteRows all = empty_rows();
  for (const replay::SnapshotDiagnosis& one : diagnoses) {
    for (const DeviceHolder& holder : one.sites.holders) {
      const bool is_told = holder.bytes > 0 || holder.per_step > 0;
      if (holder.kind != DeviceHolder::Kind::place || !is_told) continue;
      SiteRow row = row_of(holder.frames, holder.bytes);
      if (holder.per_step > 0) row.growth_long = holder.per_step;
      all.rows.push_back(std::move(row));
    }
  }
  return write_site_files(all, pprof, collapsed);
}

}  // namespace ebb::show
