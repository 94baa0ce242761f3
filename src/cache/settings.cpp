// SPDX-License-Identifier: Apache-2.0
#include "cache/settings.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cache/settings_keys.h"
#include "cache/settings_reader.h"

namespace ebb::cache {
namespace {

using Key = SettingsKey;

class Parser {
 public:
  Parser(std::string_view text, const VersionProfile& profile, const Settings& previous)
      : profile_(profile), in_(text, profile), settings_(previous) {
    settings_.text = std::string(text);
  }

  base::Result<Settings> run() {
    settings_.max_split_size = kUnlimited;
    settings_.roundup_divisions = {};
    settings_.garbage_collection_threshold = 0;
    if (profile_.at_least(11)) {
      if (!pass(true)) return in_.failure();
      settings_.max_non_split_rounding = settings_.large_segment_size;
    }
    if (!pass(false)) return in_.failure();
    return std::move(settings_);
  }

 private:
  /// large_segment_size_mb counts before all other keys, wherever it stands.
  bool pass(bool large_segment_only) {
    in_.go_to(0);
    while (!in_.at_end()) {
      const auto key = settings_key(in_.token().text, profile_);
      if (!key) {
        return in_.fail(in_.column(), unknown_settings_key(in_.token().text, profile_));
      }
      in_.begin(in_.token().text);
      in_.skip();
      if (!in_.separator(':')) return false;
      if (in_.at_end()) return in_.fail_here("expected a value for " + in_.name());
      const bool wanted = (*key == Key::large_segment) == large_segment_only;
      if (!(wanted ? value_of(*key) : in_.skip_value())) return false;
      if (!in_.at_end() && !in_.separator(',')) return false;
    }
    return true;
  }

  bool division_list() {
    auto& table = settings_.roundup_divisions;
    std::size_t last = 0;
    bool first = true;
    in_.skip();
    while (!in_.at_end() && !in_.token().is(']')) {
      const std::size_t boundary_at = in_.position();
      const bool is_rest = in_.token().is('>');
      in_.skip();
      std::uint64_t divisions = 0;
      if (!in_.separator(':') || !in_.power_of_two(divisions, profile_.at_least(4))) return false;
      if (is_rest) {
        const std::size_t from = last + (profile_.at_least(10) ? 1 : 0);
        std::fill(table.begin() + static_cast<std::ptrdiff_t>(from), table.end(), divisions);
      } else {
        const std::size_t after = in_.position();
        std::uint64_t boundary = 0;
        in_.go_to(boundary_at);
        if (!in_.power_of_two(boundary, false, 64)) return false;
        in_.go_to(after);
        last = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(boundary)),
                                     kRoundingBuckets - 1);
        if (first) {
          std::fill(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(last), divisions);
        }
        first = false;
        table[last] = divisions;
      }
      if (in_.at_end()) break;
      if (!in_.token().is(']') && !in_.separator(',')) return false;
    }
    if (in_.at_end()) return in_.fail_here("expected ']' to end the list of " + in_.name());
    in_.skip();
    return true;
  }

  bool divisions() {
    if (in_.token().is('[')) return division_list();
    std::uint64_t value = 0;
    if (!in_.power_of_two(value, false)) return false;
    settings_.roundup_divisions.fill(value);
    return true;
  }

  bool backend() {
    const std::string& word = in_.token().text;
    if (word != "native" && word != "cudaMallocAsync") {
      return in_.fail_here("expected native or cudaMallocAsync for backend");
    }
    settings_.async_backend = word == "cudaMallocAsync";
    in_.skip();
    return true;
  }

  /// A bad value is a warning in PyTorch, not an error.
  bool reserve() {
    const std::string& word = in_.token().text;
    const auto share = base::parse_double(word);
    const auto bytes = base::parse_bytes(word);
    if (share && *share > 0 && *share <= 1) {
      settings_.reserve_fraction = share;
    } else if (!share && bytes && *bytes > 0) {
      settings_.reserve_bytes = *bytes;
    } else {
      base::log(base::LogLevel::warning, "allocator settings, column %zu: %s ignored: \"%s\"",
                in_.column(), in_.name().c_str(), word.c_str());
    }
    in_.skip();
    return true;
  }

  bool value_of(Key key) {
    Settings& s = settings_;
    const std::uint64_t least = least_split_mb(s.large_segment_size, profile_);
    switch (key) {
      case Key::backend:
        return backend();
      case Key::max_split_size:
        return in_.mebibytes(s.max_split_size, least);
      case Key::roundup_divisions:
        return divisions();
      case Key::garbage_collection:
        return in_.fraction(s.garbage_collection_threshold, false);
      case Key::expandable_segments:
        return in_.boolean(s.expandable_segments);
      case Key::release_lock:
        return in_.boolean(s.release_lock_on_cudamalloc);
      case Key::host_register:
        return in_.boolean(s.pinned_use_cuda_host_register);
      case Key::register_threads:
        return register_threads();
      case Key::non_split_rounding:
        return in_.mebibytes(s.max_non_split_rounding, least);
      case Key::background_threads:
        return in_.boolean(s.pinned_use_background_threads);
      case Key::stream_reuse:
        return in_.boolean(s.graph_capture_record_stream_reuse);
      case Key::memory_fraction:
        return in_.fraction(s.memory_fraction, true);
      case Key::pinned_reserve:
        return in_.mebibytes(s.pinned_reserve_segment_size, 1);
      case Key::large_segment:
        return in_.mebibytes(s.large_segment_size, kLeastLargeSegmentMb);
      case Key::throw_on_oom:
        return in_.boolean(s.throw_on_cudamalloc_oom);
      case Key::free_catch_all:
        return in_.boolean(s.pinned_free_catch_all);
      case Key::round_threshold:
        return in_.mebibytes(s.pinned_max_round_threshold, 0);
      case Key::cached_size:
        return in_.mebibytes(s.pinned_max_cached_size, 0);
      case Key::reserve:
        return reserve();
      case Key::reserve_by_class:
        return in_.skip_value();
    }
    return false;
  }

  bool register_threads() {
    if (!in_.power_of_two(settings_.pinned_num_register_threads, false)) return false;
    if (settings_.pinned_num_register_threads <= 128) return true;
    in_.step_back();
    return in_.fail_here("expected at most 128 for " + in_.name());
  }

  const VersionProfile& profile_;
  SettingsReader in_;
  Settings settings_;
};

/// In the order in which PyTorch looks at them; the newest name is the last.
std::vector<const char*> variables_read(const VersionProfile& profile) {
  std::vector<const char*> names = {"PYTORCH_CUDA_ALLOC_CONF"};
  if (profile.at_least(10))
    names.insert(names.end(), {"PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"});
  return names;
}

}  // namespace

base::Result<Settings> parse_settings(std::string_view text, const VersionProfile& profile,
                                      const Settings& previous) {
  return Parser(text, profile, previous).run();
}

std::uint64_t least_split_mb(std::uint64_t large_segment_size, const VersionProfile& profile) {
  return profile.at_least(10) ? large_segment_size / base::kMiB : std::uint64_t{21};
}

std::optional<SettingsVariable> settings_variable(const VersionProfile& profile,
                                                  const char* (*lookup)(const char* name)) {
  for (const char* name : variables_read(profile)) {
    if (const char* value = lookup(name)) return SettingsVariable{name, value};
  }
  return std::nullopt;
}

const char* variable_to_set(const VersionProfile& profile) {
  return variables_read(profile).back();
}

}  // namespace ebb::cache
