// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/knobs.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/text.h"
#include "cache/rounding.h"
#include "cache/settings_keys.h"

namespace ebb::replay {
namespace {

/// As many sizes of the jobs' own as become values to try.
constexpr std::size_t kOwnSizes = 4;

constexpr std::uint64_t kLargestMb = std::uint64_t{1} << 20;

std::string divisions_text(const Knobs& knobs) {
  const auto& divisions = knobs.divisions;
  const bool uniform = std::adjacent_find(divisions.begin(), divisions.end(),
                                          std::not_equal_to<>()) == divisions.end();
  if (uniform) return std::to_string(divisions[0]);
  // The first entry of PyTorch's list counts for all smaller sizes, every other for its own; what
  // is left out in between is 0. The end after '>' begins behind the last entry, or with it up
  // to 2.9.
  const auto changes = std::find_if(divisions.begin(), divisions.end(),
                                    [&](std::uint8_t d) { return d != divisions[0]; });
  std::size_t tail = divisions.size() - 1;
  while (tail > 0 && divisions[tail - 1] == divisions.back()) {
    --tail;
  }
  std::string text = "[";
  for (auto i = static_cast<std::size_t>(changes - divisions.begin()) - 1; i <= tail; ++i) {
    const bool first = text.size() == 1;
    if (!first && divisions[i] == 0) continue;
    text += base::format_text("%s%u:%u", first ? "" : ",", 1U << i,
                              static_cast<unsigned>(divisions[i]));
  }
  if (divisions.back() != 0) {
    text += base::format_text(",>:%u", static_cast<unsigned>(divisions.back()));
  }
  return text + "]";
}

bool has_divisions(const Knobs& knobs) {
  return std::any_of(knobs.divisions.begin(), knobs.divisions.end(),
                     [](std::uint8_t d) { return d != 0; });
}

/// A list counts by its entries: a job that is not helped by it should not get one.
int count_divisions(const Knobs& knobs) {
  if (!has_divisions(knobs)) return 0;
  const std::string text = divisions_text(knobs);
  return 1 + static_cast<int>(std::count(text.begin(), text.end(), ':'));
}

/// Whether this release knows all that is set. Up to 2.3 no list of divisions begins with 0.
bool has_keys(const Knobs& knobs, const cache::VersionProfile& profile) {
  const auto knows = [&](const char* key) { return cache::settings_key(key, profile).has_value(); };
  if (knobs.non_split_mb != 0 && !knows("max_non_split_rounding_mb")) return false;
  if (knobs.segment_mb != 0 && !knows("large_segment_size_mb")) return false;
  return !has_divisions(knobs) || knobs.divisions[0] != 0 || profile.at_least(4);
}

/// Mebibytes just above the jobs' own large sizes: what a split size can tell apart. Spread evenly
/// over the different sizes.
std::vector<std::uint32_t> own_sizes_mb(const std::vector<const Workload*>& jobs) {
  std::set<std::uint32_t> all;
  for (const Workload* job : jobs) {
    for (const Operation& op : job->operations) {
      const bool wants = op.kind == Operation::Kind::allocate || op.kind == Operation::Kind::failed;
      if (!wants || op.bytes <= 20 * base::kMiB || op.bytes / base::kMiB >= kLargestMb) continue;
      all.insert(static_cast<std::uint32_t>(op.bytes / base::kMiB) + 1);
    }
  }
  const std::vector<std::uint32_t> sorted(all.begin(), all.end());
  if (sorted.size() <= kOwnSizes) return sorted;
  std::vector<std::uint32_t> spread;
  for (std::size_t i = 0; i < kOwnSizes; ++i) {
    spread.push_back(sorted[i * (sorted.size() - 1) / (kOwnSizes - 1)]);
  }
  return spread;
}

std::uint64_t largest_request(const std::vector<const Workload*>& jobs) {
  std::uint64_t largest = 0;
  for (const Workload* job : jobs) {
    for (const Operation& op : job->operations) {
      if (op.bytes < cache::kAbsurdSize) largest = std::max(largest, op.bytes);
    }
  }
  return largest;
}

std::vector<std::size_t> buckets_in_use(const std::vector<const Workload*>& jobs) {
  std::set<std::size_t> buckets;
  for (const Workload* job : jobs) {
    for (const Operation& op : job->operations) {
      if (op.kind != Operation::Kind::allocate || op.bytes == 0) continue;
      const int log = 63 - std::countl_zero(op.bytes);
      buckets.insert(static_cast<std::size_t>(
          std::clamp(log - 20, 0, static_cast<int>(cache::kRoundingBuckets) - 1)));
    }
  }
  return {buckets.begin(), buckets.end()};
}

}  // namespace

int count_set(const Knobs& knobs) {
  return (knobs.expandable ? 1 : 0) + (knobs.split_mb != 0 ? 1 : 0) +
         (knobs.non_split_mb != 0 ? 1 : 0) + (knobs.segment_mb != 0 ? 1 : 0) +
         (knobs.collect_percent != 0 ? 1 : 0) + count_divisions(knobs);
}

std::string conf_of(const Knobs& knobs) {
  std::string text;
  const auto add = [&](const std::string& setting) { text += (text.empty() ? "" : ",") + setting; };
  if (knobs.expandable) add("expandable_segments:True");
  if (knobs.split_mb != 0) add(base::format_text("max_split_size_mb:%u", knobs.split_mb));
  if (knobs.non_split_mb != 0) {
    add(base::format_text("max_non_split_rounding_mb:%u", knobs.non_split_mb));
  }
  if (knobs.segment_mb != 0) add(base::format_text("large_segment_size_mb:%u", knobs.segment_mb));
  if (has_divisions(knobs)) add("roundup_power2_divisions:" + divisions_text(knobs));
  if (knobs.collect_percent != 0) {
    add(base::format_text("garbage_collection_threshold:%.2f", knobs.collect_percent / 100.0));
  }
  return text;
}

std::optional<cache::Settings> settings_of(const Knobs& knobs,
                                           const cache::VersionProfile& profile) {
  if (!has_keys(knobs, profile)) return std::nullopt;
  cache::Settings settings;
  settings.expandable_segments = knobs.expandable;
  settings.garbage_collection_threshold = knobs.collect_percent / 100.0;
  std::copy(knobs.divisions.begin(), knobs.divisions.end(), settings.roundup_divisions.begin());
  if (knobs.segment_mb != 0) {
    if (knobs.segment_mb < cache::kLeastLargeSegmentMb) return std::nullopt;
    settings.large_segment_size = knobs.segment_mb * base::kMiB;
  }
  if (profile.at_least(11)) settings.max_non_split_rounding = settings.large_segment_size;
  const std::uint64_t least = cache::least_split_mb(settings.large_segment_size, profile);
  for (const std::uint32_t mb : {knobs.split_mb, knobs.non_split_mb})
    if (mb != 0 && mb < least) return std::nullopt;
  if (knobs.split_mb != 0) settings.max_split_size = knobs.split_mb * base::kMiB;
  if (knobs.non_split_mb != 0) settings.max_non_split_rounding = knobs.non_split_mb * base::kMiB;
  return settings;
}

std::vector<Knobs> SearchSpace::combinations() const {
  std::vector<Knobs> all;
  for (const bool expand : expandable) {
    for (const std::uint32_t split : split_mb) {
      for (const std::uint32_t rounding : non_split_mb) {
        if (rounding != 0 && split == 0) continue;
        for (const std::uint32_t segment : segment_mb) {
          for (const std::uint32_t collect : collect_percent) {
            // Garbage collection leaves expandable segments alone.
            if (collect != 0 && expand) continue;
            for (const std::uint8_t division : divisions) {
              Knobs knobs{expand, split, rounding, segment, collect, {}};
              knobs.divisions.fill(division);
              all.push_back(knobs);
            }
          }
        }
      }
    }
  }
  // Few settings and expandable segments first: a good result early cuts the rest short.
  std::stable_sort(all.begin(), all.end(), [](const Knobs& a, const Knobs& b) {
    const int count_a = count_set(a) - (a.expandable ? 1 : 0);
    const int count_b = count_set(b) - (b.expandable ? 1 : 0);
    return count_a != count_b ? count_a < count_b : a.expandable > b.expandable;
  });
  return all;
}

SearchSpace space_for(const std::vector<const Workload*>& jobs,
                      const cache::VersionProfile& profile, bool limited) {
  SearchSpace space;
  space.expandable = {false, true};
  space.split_mb = {0};
  space.non_split_mb = {0};
  space.segment_mb = {0};
  space.collect_percent = {0};
  space.divisions = {0, 2, 4, 8, 16, 32, 64};
  space.buckets = buckets_in_use(jobs);
  const std::uint64_t largest_mb = largest_request(jobs) / base::kMiB;
  if (largest_mb >= 20) {
    const std::uint32_t usual[] = {21, 64, 128, 512};
    std::set<std::uint32_t> sizes(std::begin(usual), std::end(usual));
    const std::vector<std::uint32_t> own = own_sizes_mb(jobs);
    sizes.insert(own.begin(), own.end());
    for (const std::uint32_t size : sizes) {
      if (size <= largest_mb + 1) space.split_mb.push_back(size);
    }
    if (profile.at_least(6)) space.non_split_mb = {0, 256, 1024};
  }
  if (profile.at_least(11)) space.segment_mb = {0, 12, 16, 32, 48, 64, 128};
  if (limited) space.collect_percent = {0, 60, 80, 90};
  return space;
}

base::Status leave_out(SearchSpace& space, std::string_view key) {
  if (key == "expandable_segments") {
    space.expandable = {false};
  } else if (key == "max_split_size_mb") {
    space.split_mb = {0};
  } else if (key == "max_non_split_rounding_mb") {
    space.non_split_mb = {0};
  } else if (key == "large_segment_size_mb") {
    space.segment_mb = {0};
  } else if (key == "roundup_power2_divisions") {
    space.divisions = {0};
    space.buckets.clear();
  } else if (key == "garbage_collection_threshold") {
    space.collect_percent = {0};
  } else {
    return base::error(base::Code::bad_input,
                       "setting '%.*s': expected expandable_segments, max_split_size_mb, "
                       "max_non_split_rounding_mb, large_segment_size_mb, "
                       "roundup_power2_divisions or garbage_collection_threshold",
                       static_cast<int>(key.size()), key.data());
  }
  return {};
}

}  // namespace ebb::replay
