// SPDX-License-Identifier: Apache-2.0
#include "cache/settings_keys.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace ebb::cache {
namespace {

using Key = SettingsKey;

struct KeyName {
  std::string_view name;
  int since;  // the minor version of the first PyTorch 2 that has it
  Key key;
};

constexpr KeyName kKeys[] = {
    {"backend", 0, Key::backend},
    {"max_split_size_mb", 0, Key::max_split_size},
    {"roundup_power2_divisions", 0, Key::roundup_divisions},
    {"garbage_collection_threshold", 0, Key::garbage_collection},
    {"expandable_segments", 1, Key::expandable_segments},
    {"release_lock_on_cudamalloc", 2, Key::release_lock},
    {"release_lock_on_hipmalloc", 2, Key::release_lock},
    {"pinned_use_cuda_host_register", 2, Key::host_register},
    {"pinned_use_hip_host_register", 2, Key::host_register},
    {"pinned_num_register_threads", 2, Key::register_threads},
    {"max_non_split_rounding_mb", 6, Key::non_split_rounding},
    {"pinned_use_background_threads", 6, Key::background_threads},
    {"graph_capture_record_stream_reuse", 9, Key::stream_reuse},
    {"per_process_memory_fraction", 10, Key::memory_fraction},
    {"pinned_reserve_segment_size_mb", 10, Key::pinned_reserve},
    {"large_segment_size_mb", 11, Key::large_segment},
    {"throw_on_cudamalloc_oom", 12, Key::throw_on_oom},
    {"pinned_free_catch_all", 12, Key::free_catch_all},
    {"pinned_max_round_threshold_mb", 13, Key::round_threshold},
    {"pinned_max_cached_size_mb", 13, Key::cached_size},
    {"expandable_segments_reserve", 15, Key::reserve},
    {"expandable_segments_reserve_by_class", 15, Key::reserve_by_class},
};

const KeyName* find(std::string_view name) {
  const auto* known = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const KeyName& key) { return key.name == name; });
  return known == std::end(kKeys) ? nullptr : known;
}

}  // namespace

std::optional<SettingsKey> settings_key(std::string_view name, const VersionProfile& profile) {
  const KeyName* known = find(name);
  if (known == nullptr || !profile.at_least(known->since)) return std::nullopt;
  return known->key;
}

std::string unknown_settings_key(std::string_view name, const VersionProfile& profile) {
  const std::string what = "unknown key \"" + std::string(name) + "\"";
  if (const KeyName* known = find(name))
    return what + base::format_text(", which PyTorch has from 2.%d on", known->since);
  std::vector<std::string_view> names;
  for (const KeyName& key : kKeys)
    if (profile.at_least(key.since)) names.push_back(key.name);
  const auto near = base::nearest(name, names);
  return near ? what + ", did you mean " + std::string(*near) + "?" : what;
}

}  // namespace ebb::cache
