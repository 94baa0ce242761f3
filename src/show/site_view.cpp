// SPDX-License-Identifier: Apache-2.0
#include "show/site_view.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"

namespace ebb::show {
namespace {

using base::format_text;

constexpr std::size_t kMostGrowing = 5;
constexpr std::size_t kMostHolding = 5;
constexpr std::size_t kMostCallers = 3;

/// The place, and who called it.
std::string calls_text(const fact::SiteStack& frames) {
  std::string text = base::plain_line(story::place_of(frames));
  const fact::SiteFrame* const place = story::telling_frame(frames);
  if (place == nullptr) return text;
  const fact::SiteFrame* const inner = story::python_frame(frames);
  if (inner != nullptr && inner != place)
    text += " (in " + base::plain_line(story::text_of(*inner)) + ")";
  std::size_t shown = 0;
  for (auto at = static_cast<std::size_t>(place - frames.data()) + 1;
       at < frames.size() && shown < kMostCallers && frames[at - 1].function != "main";
       ++at, ++shown)
    text += " < " + base::plain_line(story::text_of(frames[at]));
  return text;
}

std::string since_text(const story::SiteStory& site) {
  return ", since " + base::duration_text(site.since);
}

std::string pid_text(const story::SiteStory& site, bool is_told) {
  return is_told ? format_text("%7d  ", site.process.pid) : std::string();
}

/// FlameStacks of calls as a flame graph has them, each of them once.
class FlameStacks {
 public:
  FlameStacks(const story::RunStory& story, page::FlameGraph& flame) : flame_(flame) {
    for (const story::ProcessStory& process : story.processes)
      names_[process.process.key()] = story::name_of(process);
  }

  page::FlameStack& of(const record::ProcessKey& process, const fact::SiteStack& frames) {
    const auto [at, is_new] =
        stacks_.try_emplace({process, story::reading_of(frames)}, flame_.stacks.size());
    if (is_new) flame_.stacks.push_back({calls_of(process, frames), {0, 0}});
    return flame_.stacks[at->second];
  }

 private:
  std::vector<std::uint32_t> calls_of(const record::ProcessKey& process,
                                      const fact::SiteStack& frames) {
    const auto name = names_.find(process);
    std::vector<std::uint32_t> calls = {number_of(
        name == names_.end() ? std::to_string(process.pid) : name->second, page::FrameKind::root)};
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      calls.push_back(number_of(story::text_of(*frame), frame->is_python()
                                                            ? page::FrameKind::python
                                                            : page::FrameKind::native));
    }
    if (frames.empty())
      calls.push_back(number_of(story::place_of(frames), page::FrameKind::native));
    return calls;
  }

  std::uint32_t number_of(const std::string& name, page::FrameKind kind) {
    const auto [at, is_new] =
        known_.try_emplace(name, static_cast<std::uint32_t>(flame_.frames.size()));
    if (is_new) flame_.frames.push_back({name, kind});
    return at->second;
  }

  page::FlameGraph& flame_;
  std::map<record::ProcessKey, std::string> names_;
  std::map<std::string, std::uint32_t> known_;
  std::map<std::pair<record::ProcessKey, std::string>, std::size_t> stacks_;
};

}  // namespace

std::string sites_text(const story::RunStory& story) {
  const story::SitesStory& all = story.sites;
  if (!all.sampling) return "";
  std::set<std::int32_t> pids;
  for (const story::SiteStory& site : all.sites)
    pids.insert(site.process.pid);
  const bool is_told = pids.size() > 1;
  std::string text;
  std::size_t shown = 0;
  for (const story::SiteStory& site : all.sites) {
    if (!site.growth || shown == kMostGrowing) break;
    const auto per_minute = static_cast<std::int64_t>(site.growth->per_second * 60);
    text +=
        format_text("%-11s%s%14s/min  %3.0f %%  %s\n", shown++ == 0 ? "grew by" : "",
                    pid_text(site, is_told).c_str(), base::signed_bytes_text(per_minute).c_str(),
                    100 * site.growth_share, (calls_text(site.frames) + since_text(site)).c_str());
  }
  std::vector<const story::SiteStory*> holding;
  for (const story::SiteStory& site : all.sites)
    holding.push_back(&site);
  std::stable_sort(holding.begin(), holding.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  shown = 0;
  for (const story::SiteStory* site : holding) {
    if (shown == kMostHolding) break;
    text += format_text("%-11s%s%14s      %3.0f %%  %s\n", shown++ == 0 ? "held by" : "",
                        pid_text(*site, is_told).c_str(), base::bytes_text(site->bytes).c_str(),
                        100 * site->share, (calls_text(site->frames) + since_text(*site)).c_str());
  }
  text += format_text("sampled    %llu allocations of %llu process%s, for %s",
                      static_cast<unsigned long long>(all.sampling->samples),
                      static_cast<unsigned long long>(all.sampling->processes),
                      all.sampling->processes == 1 ? "" : "es",
                      base::duration_text(all.sampling->spent_seconds).c_str());
  if (all.sampling->no_python > 0) {
    text += format_text("; %llu without Python's lines: its interpreter is not read",
                        static_cast<unsigned long long>(all.sampling->no_python));
  }
  if (all.sampling->dropped > 0) {
    text +=
        format_text("; %llu had no room", static_cast<unsigned long long>(all.sampling->dropped));
  }
  if (all.sampling->no_room > 0) {
    text += format_text("; %llu more processes had no room for a table",
                        static_cast<unsigned long long>(all.sampling->no_room));
  }
  return text + "\n";
}

page::FlameGraph sites_flame(const story::RunStory& story, const story::SiteHistory& history) {
  page::FlameGraph flame;
  flame.title = "Who holds it";
  flame.note =
      "Live memory by the calls that allocated it, estimated from samples; click one to widen it";
  flame.measures = {{"live", page::Unit::bytes}, {"growth an hour", page::Unit::bytes}};
  FlameStacks stacks(story, flame);
  for (const story::SiteStory& site : story.sites.sites) {
    const double growth = site.growth ? site.growth->per_second * 3600 : 0;
    stacks.of(site.process, site.frames).values = {static_cast<double>(site.bytes), growth};
  }
  if (history.moments.size() < 2) return flame;
  flame.moments = history.moments;
  for (const story::HeldOverTime& one : history.stacks)
    stacks.of(one.process, one.frames).held.assign(one.bytes.begin(), one.bytes.end());
  return flame;
}

}  // namespace ebb::show
