// SPDX-License-Identifier: Apache-2.0
#include "heap/library_cache.h"

#include <cstdint>
#include <cstring>

namespace ebb::heap {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeaderSize = 48;
constexpr std::size_t kEntrySize = 24;  // flags, key, value, os version (4 each), hwcap (8)

std::uint32_t number_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view cached_string(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

base::Result<std::vector<CachedLibrary>> parse_library_cache(std::string_view bytes) {
  const std::size_t start = bytes.find(kMagic);
  if (start == std::string_view::npos || bytes.size() - start < kHeaderSize)
    return base::error(base::Code::bad_input, "not a library cache: expected %s", kMagic.data());
  const std::string_view cache = bytes.substr(start);  // offsets count from here
  const std::uint64_t count = number_at(cache, 20);
  if (count * kEntrySize > cache.size() - kHeaderSize)
    return base::error(base::Code::bad_input, "library cache: %llu entries do not fit into it",
                       static_cast<unsigned long long>(count));
  std::vector<CachedLibrary> libraries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t entry = kHeaderSize + i * kEntrySize;
    const std::string_view soname = cached_string(cache, number_at(cache, entry + 4));
    const std::string_view path = cached_string(cache, number_at(cache, entry + 8));
    if (!soname.empty() && !path.empty())
      libraries.push_back({std::string(soname), std::string(path)});
  }
  return libraries;
}

}  // namespace ebb::heap
