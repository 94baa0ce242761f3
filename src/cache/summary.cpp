// SPDX-License-Identifier: Apache-2.0
#include "cache/summary.h"

#include <array>

#include "base/text.h"

namespace ebb::cache {
namespace {

constexpr std::size_t kWidth = 75;

/// The unit comes from `scale`, so that the rows of a group share it.
std::string size_text(std::int64_t value, std::int64_t scale) {
  static constexpr std::array<const char*, 6> kUnits = {"B  ", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  auto size = static_cast<double>(scale);
  while (unit + 1 < kUnits.size() && size >= 768 * 1024) {
    size /= 1024;
    value /= 1024;
    ++unit;
  }
  return base::format_text("%6lld %s", static_cast<long long>(value), kUnits[unit]);
}

std::string count_text(std::int64_t value, std::int64_t scale) {
  static constexpr std::array<const char*, 3> kUnits = {" ", "K", "M"};
  std::size_t unit = 0;
  auto count = static_cast<double>(scale);
  while (unit + 1 < kUnits.size() && count >= 750 * 1000) {
    count /= 1000;
    value /= 1000;
    ++unit;
  }
  return base::format_text("%7lld %s ", static_cast<long long>(value), kUnits[unit]);
}

struct Row {
  Metric metric;
  const char* title;
};
constexpr Row kSizes[] = {
    {Metric::allocated_bytes, "Allocated memory"},
    {Metric::active_bytes, "Active memory"},
    {Metric::requested_bytes, "Requested memory"},
    {Metric::reserved_bytes, "GPU reserved memory"},
    {Metric::inactive_split_bytes, "Non-releasable memory"},
};
constexpr Row kCounts[] = {
    {Metric::allocation, "Allocations"},
    {Metric::active, "Active allocs"},
    {Metric::segment, "GPU reserved segments"},
    {Metric::inactive_split, "Non-releasable allocs"},
};

class Table {
 public:
  void rule(char mark) { line(std::string(kWidth, mark)); }
  void line(const std::string& text) { text_ += "|" + text + "|\n"; }

  template <class Format>
  void row(const char* title, const Stat& stat, const Stat& scale, Format&& format) {
    line(base::format_text(
        " %-21s | %s | %s | %s | %s ", title, format(stat.current, scale.current).c_str(),
        format(stat.peak, scale.peak).c_str(), format(stat.allocated, scale.allocated).c_str(),
        format(stat.freed, scale.freed).c_str()));
  }

  template <class Format>
  void group(const char* title, const PooledStat& stat, bool abbreviated, Format&& format) {
    rule('-');
    row(title, stat.all, stat.all, format);
    if (abbreviated) return;
    row("      from large pool", stat.large, stat.all, format);
    row("      from small pool", stat.small, stat.all, format);
  }

  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string memory_summary(const Stats& stats, int device, bool abbreviated) {
  Table table;
  table.rule('=');
  table.line(base::format_text(" %16s PyTorch CUDA memory summary, device ID %-17d ", "", device));
  table.rule('-');
  table.line(base::format_text("  %9s CUDA OOMs: %-12lld | %6s cudaMalloc retries: %-8lld  ", "",
                               static_cast<long long>(stats.num_ooms), "",
                               static_cast<long long>(stats.num_alloc_retries)));
  table.rule('=');
  table.line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
  for (const Row& row : kSizes) {
    table.group(row.title, stats[row.metric], abbreviated, size_text);
  }
  for (const Row& row : kCounts) {
    table.group(row.title, stats[row.metric], abbreviated, count_text);
  }
  const Stat allocations = stats.oversize_allocations.stat();
  table.rule('-');
  table.row("Oversize allocations", allocations, allocations, count_text);
  const Stat segments = stats.oversize_segments.stat();
  table.rule('-');
  table.row("Oversize GPU segments", segments, segments, count_text);
  table.rule('=');
  return std::move(table).text();
}

}  // namespace ebb::cache
