// SPDX-License-Identifier: Apache-2.0
#include "run/site_rows.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sites/frame_names.h"

namespace ebb::run {
namespace {

// What a stack has to hold to be recorded: in bytes, and of what all hold.
constexpr std::uint64_t kLeastBytes = 256 << 10;
constexpr double kLeastShare = 0.002;
constexpr std::size_t kMostTracked = 128;

std::uint64_t bytes_of(const sites::TableView& view) {
  std::uint64_t bytes = 0;
  for (const auto& [stack, site] : view.sites)
    bytes += site.bytes;
  return bytes;
}

}  // namespace

std::uint32_t site_number(std::uint32_t generation, std::uint32_t stack) {
  constexpr unsigned kBitsOfStack = 21;
  return std::min(generation, kGenerations - 1) << kBitsOfStack | stack;
}

record::Sampling sampling_row(const sites::TableView& view, const record::ProcessKey& process,
                              double seconds) {
  return {process,      seconds,        bytes_of(view),    view.samples,
          view.dropped, view.no_python, view.spent_seconds};
}

std::set<std::uint32_t> track_largest(const sites::TableView& view,
                                      std::set<std::uint32_t>& tracked) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> largest;
  for (const auto& [stack, site] : view.sites)
    largest.emplace_back(site.bytes, stack);
  std::sort(largest.rbegin(), largest.rend());
  const double least = kLeastShare * static_cast<double>(bytes_of(view));
  std::set<std::uint32_t> came;
  for (const auto& [bytes, stack] : largest) {
    const bool is_worth = bytes >= kLeastBytes && static_cast<double>(bytes) >= least;
    if (!is_worth || tracked.size() >= kMostTracked) break;
    if (tracked.insert(stack).second) came.insert(stack);
  }
  return came;
}

std::vector<record::Site> site_rows(const sites::TableView& view,
                                    const std::set<std::uint32_t>& tracked,
                                    std::uint32_t generation, const record::ProcessKey& process,
                                    double seconds) {
  std::vector<record::Site> rows;
  for (const std::uint32_t stack : tracked) {
    record::Site row{process, seconds, site_number(generation, stack), 0, 0, 0};
    const auto site = view.sites.find(stack);
    if (site != view.sites.end()) {
      row.bytes = site->second.bytes;
      row.error = static_cast<std::uint64_t>(site->second.error);
      row.samples = site->second.samples;
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<record::SiteName> site_names(const std::string& path,
                                         const std::set<std::uint32_t>& stacks,
                                         std::uint32_t generation,
                                         const record::ProcessKey& process, double seconds,
                                         const std::string& root, std::optional<double> until) {
  std::vector<record::SiteName> names;
  const auto reader = sites::StackReader::open(path);
  if (!reader || stacks.empty()) return names;
  std::vector<sites::RawStack> raw;
  for (const std::uint32_t stack : stacks)
    raw.push_back(reader->stack(stack));
  auto frames = sites::named(raw, reader->modules(), root, until);
  std::size_t next = 0;
  for (const std::uint32_t stack : stacks)
    names.push_back({process, seconds, site_number(generation, stack), std::move(frames[next++])});
  return names;
}

std::optional<TableName> table_name(const std::string& file_name) {
  const auto parts = base::split(file_name, '-');
  if (parts.size() != 3 || parts[0] != "sites") return std::nullopt;
  const auto pid = base::parse_unsigned(parts[1]);
  const auto time = base::parse_unsigned(parts[2]);
  if (!pid || !time || *pid == 0 || *pid > 1 << 30) return std::nullopt;
  return TableName{static_cast<std::int32_t>(*pid), *time};
}

}  // namespace ebb::run
