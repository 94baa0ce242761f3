// SPDX-License-Identifier: Apache-2.0
#include "sum/storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::sum {

base::Result<Storage> Storage::create(std::size_t count) {
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(std::int64_t))
    return base::error(base::Code::bad_input, "%zu elements: more than memory can have", count);
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(std::int64_t);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t whole = count * sizeof(std::int64_t) / page * page;
  if (whole <= released_) return;
  ::madvise(reinterpret_cast<char*>(data_) + released_, whole - released_, MADV_DONTNEED);
  released_ = whole;
}

void Storage::release_all() {
  ::madvise(data_, bytes_, MADV_DONTNEED);
  released_ = 0;
}

}  // namespace ebb::sum
