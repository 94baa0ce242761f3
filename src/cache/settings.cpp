// SPDX-License-Identifier: Apache-2.0
#include "cache/settings.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cache/settings_tokens.h"

namespace ebb::cache {
namespace {

constexpr std::uint64_t kMostMiB = kUnlimited / base::kMiB;

enum class Key : std::uint8_t {
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

struct KeyName {
  std::string_view name;
  int since;
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

class Parser {
 public:
  Parser(std::string_view text, const VersionProfile& profile, const Settings& previous)
      : profile_(profile),
        text_(text),
        tokens_(settings_tokens(text, profile.at_least(10))),
        settings_(previous) {}

  base::Result<Settings> run() {
    settings_.text = std::string(text_);
    settings_.max_split_size = kUnlimited;
    settings_.roundup_divisions = {};
    settings_.garbage_collection_threshold = 0;
    if (profile_.at_least(11)) {
      if (!pass(true)) return failure_;
      settings_.max_non_split_rounding = settings_.large_segment_size;
    }
    if (!pass(false)) return failure_;
    return std::move(settings_);
  }

 private:
  bool at_end() const { return next_ >= tokens_.size(); }
  std::size_t column() const { return at_end() ? text_.size() + 1 : tokens_[next_].column; }
  std::string found() const {
    return at_end() ? std::string("the end") : "\"" + tokens_[next_].text + "\"";
  }

  bool fail(std::size_t column, const std::string& what) {
    failure_ = base::error(base::Code::bad_input, "allocator settings, column %zu: %s", column,
                           what.c_str());
    return false;
  }
  bool fail_here(const std::string& what) { return fail(column(), what + ", got " + found()); }

  /// large_segment_size_mb counts before all other keys, wherever it stands.
  bool pass(bool large_segment_only) {
    next_ = 0;
    while (!at_end()) {
      const KeyName* key = find_key();
      if (key == nullptr) return false;
      name_ = tokens_[next_].text;
      ++next_;
      if (!separator(':')) return false;
      if (at_end()) return fail_here("expected a value for " + name_);
      const bool wanted = (key->key == Key::large_segment) == large_segment_only;
      if (!(wanted ? value_of(key->key) : skip_value())) return false;
      if (!at_end() && !separator(',')) return false;
    }
    return true;
  }

  const KeyName* find_key() {
    const SettingsToken& token = tokens_[next_];
    const auto* known = std::find_if(std::begin(kKeys), std::end(kKeys),
                                     [&](const KeyName& k) { return k.name == token.text; });
    if (known != std::end(kKeys) && profile_.at_least(known->since)) return known;
    std::string what = "unknown key \"" + token.text + "\"";
    if (known != std::end(kKeys)) {
      what += base::format_text(", which PyTorch has from 2.%d on", known->since);
    } else {
      std::vector<std::string_view> names;
      for (const KeyName& k : kKeys) {
        if (profile_.at_least(k.since)) names.push_back(k.name);
      }
      if (const auto near = base::nearest(token.text, names)) {
        what += ", did you mean " + std::string(*near) + "?";
      }
    }
    fail(token.column, what);
    return nullptr;
  }

  /// From 2.10 on PyTorch takes any token for a separator.
  bool separator(char mark) {
    const bool right = !at_end() && tokens_[next_].is(mark);
    if (!right && (at_end() || !profile_.at_least(10))) {
      return fail_here(std::string("expected '") + mark + "'");
    }
    ++next_;
    return true;
  }

  bool skip_value() {
    if (tokens_[next_++].is('[')) {
      while (!at_end() && !tokens_[next_].is(']')) {
        ++next_;
      }
      if (at_end()) return fail_here("expected ']' to end the list of " + name_);
      ++next_;
    }
    return true;
  }

  bool boolean(bool& value) {
    const std::string& word = tokens_[next_].text;
    if (word != "True" && word != "False") {
      return fail_here("expected True or False for " + name_);
    }
    value = word == "True";
    ++next_;
    return true;
  }

  bool integer(std::uint64_t& value, int old_bits = 32) {
    if (at_end()) return fail_here("expected a number for " + name_);
    const auto number = leading_integer(tokens_[next_].text, profile_.at_least(10) ? 64 : old_bits);
    if (!number) return fail_here("expected a number for " + name_);
    value = *number;
    ++next_;
    return true;
  }

  bool mebibytes(std::uint64_t& bytes, std::uint64_t least) {
    std::uint64_t value = 0;
    if (!integer(value)) return false;
    if (value < least) {
      --next_;
      return fail_here(base::format_text("expected at least %llu for %s",
                                         static_cast<unsigned long long>(least), name_.c_str()));
    }
    bytes = std::min(value, kMostMiB) * base::kMiB;
    return true;
  }

  bool fraction(double& value, bool ends_included) {
    const auto number = leading_double(tokens_[next_].text);
    const bool inside =
        number && (ends_included ? *number >= 0 && *number <= 1 : *number > 0 && *number < 1);
    if (!inside) {
      return fail_here("expected a number " +
                       std::string(ends_included ? "from 0 to 1" : "between 0 and 1") + " for " +
                       name_);
    }
    value = *number;
    ++next_;
    return true;
  }

  bool power_of_two(std::uint64_t& value, bool zero_allowed, int old_bits = 32) {
    if (!integer(value, old_bits)) return false;
    if (std::has_single_bit(value) || (zero_allowed && value == 0)) return true;
    --next_;
    return fail_here("expected a power of two for " + name_);
  }

  bool division_list() {
    auto& table = settings_.roundup_divisions;
    std::size_t last = 0;
    bool first = true;
    ++next_;
    while (!at_end() && !tokens_[next_].is(']')) {
      const std::size_t boundary_at = next_++;
      std::uint64_t divisions = 0;
      if (!separator(':') || !power_of_two(divisions, profile_.at_least(4))) return false;
      const std::size_t after = next_;
      if (tokens_[boundary_at].is('>')) {
        std::fill(
            table.begin() + static_cast<std::ptrdiff_t>(last + (profile_.at_least(10) ? 1 : 0)),
            table.end(), divisions);
      } else {
        std::uint64_t boundary = 0;
        next_ = boundary_at;
        if (!power_of_two(boundary, false, 64)) return false;
        next_ = after;
        last = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(boundary)),
                                     kRoundingBuckets - 1);
        if (first) {
          std::fill(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(last), divisions);
        }
        first = false;
        table[last] = divisions;
      }
      if (at_end()) break;
      if (!tokens_[next_].is(']') && !separator(',')) return false;
    }
    if (at_end()) return fail_here("expected ']' to end the list of " + name_);
    ++next_;
    return true;
  }

  bool divisions() {
    if (tokens_[next_].is('[')) return division_list();
    std::uint64_t value = 0;
    if (!power_of_two(value, false)) return false;
    settings_.roundup_divisions.fill(value);
    return true;
  }

  bool backend() {
    const std::string& word = tokens_[next_].text;
    if (word != "native" && word != "cudaMallocAsync") {
      return fail_here("expected native or cudaMallocAsync for backend");
    }
    settings_.async_backend = word == "cudaMallocAsync";
    ++next_;
    return true;
  }

  /// A bad value is a warning in PyTorch, not an error.
  bool reserve() {
    const std::string& word = tokens_[next_].text;
    const auto share = base::parse_double(word);
    const auto bytes = base::parse_bytes(word);
    if (share && *share > 0 && *share <= 1) {
      settings_.reserve_fraction = share;
    } else if (!share && bytes && *bytes > 0) {
      settings_.reserve_bytes = *bytes;
    } else {
      base::log(base::LogLevel::warning, "allocator settings, column %zu: %s ignored: \"%s\"",
                column(), name_.c_str(), word.c_str());
    }
    ++next_;
    return true;
  }

  bool value_of(Key key) {
    Settings& s = settings_;
    // PyTorch up to 2.9 wants more than 20 MiB, later ones at least a large segment.
    const std::uint64_t least =
        profile_.at_least(10) ? s.large_segment_size / base::kMiB : std::uint64_t{21};
    switch (key) {
      case Key::backend:
        return backend();
      case Key::max_split_size:
        return mebibytes(s.max_split_size, least);
      case Key::roundup_divisions:
        return divisions();
      case Key::garbage_collection:
        return fraction(s.garbage_collection_threshold, false);
      case Key::expandable_segments:
        return boolean(s.expandable_segments);
      case Key::release_lock:
        return boolean(s.release_lock_on_cudamalloc);
      case Key::host_register:
        return boolean(s.pinned_use_cuda_host_register);
      case Key::register_threads:
        return register_threads();
      case Key::non_split_rounding:
        return mebibytes(s.max_non_split_rounding, least);
      case Key::background_threads:
        return boolean(s.pinned_use_background_threads);
      case Key::stream_reuse:
        return boolean(s.graph_capture_record_stream_reuse);
      case Key::memory_fraction:
        return fraction(s.memory_fraction, true);
      case Key::pinned_reserve:
        return mebibytes(s.pinned_reserve_segment_size, 1);
      case Key::large_segment:
        return mebibytes(s.large_segment_size, 11);
      case Key::throw_on_oom:
        return boolean(s.throw_on_cudamalloc_oom);
      case Key::free_catch_all:
        return boolean(s.pinned_free_catch_all);
      case Key::round_threshold:
        return mebibytes(s.pinned_max_round_threshold, 0);
      case Key::cached_size:
        return mebibytes(s.pinned_max_cached_size, 0);
      case Key::reserve:
        return reserve();
      case Key::reserve_by_class:
        return skip_value();
    }
    return false;
  }

  bool register_threads() {
    if (!power_of_two(settings_.pinned_num_register_threads, false)) return false;
    if (settings_.pinned_num_register_threads <= 128) return true;
    --next_;
    return fail_here("expected at most 128 for " + name_);
  }

  const VersionProfile& profile_;
  std::string_view text_;
  std::vector<SettingsToken> tokens_;
  std::size_t next_ = 0;
  std::string name_;
  Settings settings_;
  base::Error failure_;
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
