// SPDX-License-Identifier: Apache-2.0
#include "sites/readable.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ebb::sites {
namespace {

constexpr unsigned kPageBits = 12;

/// A call that every process makes, and that no sandbox forbids: the kernel reads the mask before
/// it refuses what it is asked to do with it.
bool can_read_page(std::uint64_t page) {
  const int before = errno;
  ::syscall(SYS_rt_sigprocmask, -1L, page << kPageBits, nullptr, 8L);
  const bool is_there = errno == EINVAL;
  errno = before;
  return is_there;
}

}  // namespace

bool Readable::holds(std::uint64_t address, std::size_t bytes) {
  if (bytes == 0) return true;
  const std::uint64_t first = address >> kPageBits;
  const std::uint64_t last = (address + bytes - 1) >> kPageBits;
  if (first == 0 || last < first || last - first >= kPages || address >> 47 != 0) return false;
  for (std::uint64_t page = first; page <= last; ++page) {
    std::uint64_t& known = pages_[page % kPages];
    if (known == page) continue;
    if (!can_read_page(page)) return false;
    known = page;
  }
  return true;
}

}  // namespace ebb::sites
