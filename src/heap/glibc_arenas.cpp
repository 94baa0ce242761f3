// SPDX-License-Identifier: Apache-2.0
#include "heap/glibc_arenas.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ebb::heap {
namespace {

/// The value of `attribute` in one XML tag.
std::optional<std::uint64_t> attribute(std::string_view tag, std::string_view name) {
  const std::string wanted = std::string(name) + "=\"";
  const std::size_t start = tag.find(wanted);
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view rest = tag.substr(start + wanted.size());
  return base::parse_unsigned(rest.substr(0, rest.find('"')));
}

}  // namespace

std::optional<MallocInfo> parse_malloc_info(std::string_view xml) {
  if (!xml.starts_with("<malloc")) return std::nullopt;
  MallocInfo info;
  // The totals over all arenas stand after the last arena.
  const std::size_t last = xml.rfind("</heap>");
  if (last == std::string_view::npos) return std::nullopt;
  for (std::size_t at = xml.find("<heap nr="); at != std::string_view::npos;
       at = xml.find("<heap nr=", at + 1))
    ++info.arenas;
  for (const std::string_view tag : base::split(xml.substr(last), '<')) {
    const std::uint64_t size = attribute(tag, "size").value_or(0);
    const bool is_total = tag.starts_with("total ");
    if (is_total && tag.find("\"fast\"") != std::string_view::npos) info.free += size;
    if (is_total && tag.find("\"rest\"") != std::string_view::npos) info.free += size;
    if (is_total && tag.find("\"mmap\"") != std::string_view::npos) info.mmapped = size;
    if (tag.starts_with("system type=\"current\"")) info.system = size;
  }
  return info;
}

std::vector<ArenaRange> arena_ranges(const std::vector<Mapping>& mappings, const ReadMemory& read) {
  std::vector<ArenaRange> ranges = thread_heaps(mappings, read);
  for (const Mapping& mapping : mappings) {
    if (mapping.name == "[heap]") ranges.push_back({mapping.start, mapping.end});
  }
  return ranges;
}

std::uint64_t resident_bytes(const std::vector<ArenaRange>& ranges) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 16384> resident;
  std::uint64_t pages = 0;
  for (const ArenaRange& range : ranges) {
    for (std::uint64_t at = range.start; at < range.end; at += page * resident.size()) {
      const std::uint64_t length = std::min(range.end - at, page * resident.size());
      if (::mincore(reinterpret_cast<void*>(at), length, resident.data()) != 0) continue;
      const auto count = static_cast<std::ptrdiff_t>((length + page - 1) / page);
      pages +=
          static_cast<std::uint64_t>(std::count_if(resident.begin(), resident.begin() + count,
                                                   [](unsigned char c) { return (c & 1) != 0; }));
    }
  }
  return pages * page;
}

}  // namespace ebb::heap
