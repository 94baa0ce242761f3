// SPDX-License-Identifier: Apache-2.0
#include "sum/storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::sum {
namespace {

/// Of the systems that have them; elsewhere this is just an alignment.
constexpr std::size_t kHugePage = std::size_t{2} << 20U;
/// Below this there is little to gain from huge pages.
constexpr std::size_t kLarge = 2 * kHugePage;

/// Memory that starts where a huge page can; MAP_FAILED where there is none.
void* map_large(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - kHugePage) return MAP_FAILED;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) / page * page;
  void* memory = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return memory;
  char* start = static_cast<char*>(memory);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(memory) % kHugePage;
  const std::size_t before = over == 0 ? 0 : kHugePage - over;
  if (before != 0) ::munmap(start, before);
  ::munmap(start + before + bytes, kHugePage - before);
  ::madvise(start + before, bytes, MADV_HUGEPAGE);
  return start + before;
}

void* map(std::size_t bytes) {
  if (bytes >= kLarge) return map_large(bytes);
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace

base::Result<Storage> Storage::create(std::size_t count) {
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(std::int64_t))
    return base::error(base::Code::bad_input, "%zu elements: more than memory can have", count);
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(std::int64_t);
  void* memory = map(bytes);
  if (memory == MAP_FAILED)
    return base::error(base::Code::out_of_memory, "no memory for sums of %zu elements", count);
  return Storage(static_cast<std::int64_t*>(memory), bytes);
}

Storage::Storage(Storage&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      released_(other.released_) {}

Storage::~Storage() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void Storage::release_before(std::size_t count) {
  // Huge pages go back whole: those cut into small ones would have to be put together again.
  const std::size_t whole = count * sizeof(std::int64_t) / kHugePage * kHugePage;
  if (whole <= released_) return;
  ::madvise(reinterpret_cast<char*>(data_) + released_, whole - released_, MADV_DONTNEED);
  released_ = whole;
}

void Storage::release_all() {
  ::madvise(data_, bytes_, MADV_DONTNEED);
  released_ = 0;
}

}  // namespace ebb::sum
