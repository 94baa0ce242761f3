// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/version.h"

namespace ebb::cache {

/// The keys of a settings string; some have two names.
enum class SettingsKey : std::uint8_t {
  backend,
  max_split_size,
  roundup_divisions,
  garbage_collection,
  expandable_segments,
  release_lock,
  host_register,
  register_threads,
  non_split_rounding,
  background_threads,
  stream_reuse,
  memory_fraction,
  pinned_reserve,
  large_segment,
  throw_on_oom,
  free_catch_all,
  round_threshold,
  cached_size,
  reserve,
  reserve_by_class,
};

/// The key of that name; nothing where that PyTorch has none.
std::optional<SettingsKey> settings_key(std::string_view name, const VersionProfile& profile);

/// What is wrong with a name for which there is no key: the release that has it, or one like it.
std::string unknown_settings_key(std::string_view name, const VersionProfile& profile);

}  // namespace ebb::cache
