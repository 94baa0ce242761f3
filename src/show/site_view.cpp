// SPDX-License-Identifier: Apache-2.0
#include "show/site_view.h"

#include <map>

#include "base/duration.h"
#include "base/text.h"
#include "show/flame_stacks.h"

namespace ebb::show {
namespace {

using base::format_text;

constexpr std::size_t kColumn = 11;

/// What sampling came to.
std::string sampling_text(const story::SamplingStory& sampling) {
  const auto count = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string text =
      format_text("sampled    %llu allocations of %llu process%s, for %s", count(sampling.samples),
                  count(sampling.processes), sampling.processes == 1 ? "" : "es",
                  base::duration_text(sampling.spent_seconds).c_str());
  if (sampling.no_python > 0) {
    text += format_text("; %llu without Python's lines: its interpreter is not read",
                        count(sampling.no_python));
  }
  if (sampling.dropped > 0) text += format_text("; %llu had no room", count(sampling.dropped));
  if (sampling.no_room > 0) {
    text += format_text("; %llu more processes had no room for a table", count(sampling.no_room));
  }
  return text + "\n";
}

}  // namespace

SiteRows rows_of(const story::SitesStory& sites) {
  SiteRows all;
  for (const story::SiteStory& site : sites.sites) {
    SiteRow row;
    row.holder = std::to_string(site.process.pid);
    row.frames = site.frames;
    row.bytes = site.bytes;
    row.share = site.share;
    row.since = site.since;
    if (site.growth) row.growth = site.growth->per_second * 60;
    if (site.growth) row.growth_long = site.growth->per_second * 3600;
    row.growth_share = site.growth_share;
    all.rows.push_back(std::move(row));
  }
  return all;
}

std::string sites_text(const story::RunStory& story) {
  if (!story.sites.sampling) return "";
  return rows_text(rows_of(story.sites), kColumn) + sampling_text(*story.sites.sampling);
}

page::FlameGraph sites_flame(const story::RunStory& story, const story::SiteHistory& history) {
  page::FlameGraph flame;
  flame.title = "Who holds it";
  flame.note =
      "Live memory by the calls that allocated it, estimated from samples; click one to widen it";
  flame.measures = {{"live", page::Unit::bytes}, {"growth an hour", page::Unit::bytes}};
  std::map<record::ProcessKey, std::string> names;
  for (const story::ProcessStory& process : story.processes)
    names[process.process.key()] = story::name_of(process);
  FlameStacks stacks(flame);
  const auto stack_of = [&](const record::ProcessKey& process,
                            const fact::SiteStack& frames) -> page::FlameStack& {
    const auto name = names.try_emplace(process, std::to_string(process.pid)).first;
    const std::string key = std::to_string(process.pid) + " " + std::to_string(process.start);
    return stacks.of(key, name->second, frames);
  };
  for (const story::SiteStory& site : story.sites.sites) {
    const double growth = site.growth ? site.growth->per_second * 3600 : 0;
    stack_of(site.process, site.frames).values = {static_cast<double>(site.bytes), growth};
  }
  if (history.moments.size() < 2) return flame;
  flame.moments = history.moments;
  for (const story::HeldOverTime& one : history.stacks)
    stack_of(one.process, one.frames).held.assign(one.bytes.begin(), one.bytes.end());
  return flame;
}

}  // namespace ebb::show
