// SPDX-License-Identifier: Apache-2.0
#include "heap/thread_heaps.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

namespace ebb::heap {
namespace {

/// HEAP_MAX_SIZE of 64-bit glibc, unless it was told to take its heaps from hugetlbfs.
constexpr std::uint64_t kHeapSpan = 64ULL << 20;
constexpr std::uint64_t kPage = 4096;
/// The kernel joins neighbouring heaps into one mapping; what is larger still is not made of heaps
/// (the shadow memory of a sanitizer has terabytes) and would take long to look through.
constexpr std::uint64_t kLargestMapping = 4096 * kHeapSpan;
constexpr std::uint64_t kEndOfUserSpace = 1ULL << 56;
/// In the first heap of an arena its state follows the header.
constexpr std::uint64_t kLargestHeader = 256;

/// The beginning of glibc's heap_info, the same since 2.10.
struct HeapHeader {
  std::uint64_t arena = 0;     ///< address of the arena's state
  std::uint64_t previous = 0;  ///< the heap that the arena had before this one; 0 for the first
  std::uint64_t size = 0;      ///< bytes in use by the arena, from the start of the heap
  std::uint64_t writable = 0;  ///< bytes that were ever made accessible
};

std::uint64_t heap_of(std::uint64_t address) {
  return address / kHeapSpan * kHeapSpan;
}

bool is_size(std::uint64_t bytes) {
  return bytes != 0 && bytes <= kHeapSpan && bytes % kPage == 0;
}

std::optional<HeapHeader> header_at(std::uint64_t start, const ReadMemory& read) {
  HeapHeader header;
  if (!read(start, &header, sizeof header)) return std::nullopt;
  const std::uint64_t offset = header.arena - heap_of(header.arena);
  const bool plausible = is_size(header.size) && is_size(header.writable) &&
                         header.size <= header.writable && header.previous % kHeapSpan == 0 &&
                         header.arena % 16 == 0 && offset >= sizeof header &&
                         offset <= kLargestHeader;
  if (!plausible) return std::nullopt;
  return header;
}

/// The first heap of an arena holds the arena; each later one names it and the heap before.
bool is_heap(std::uint64_t start, const HeapHeader& header, const ReadMemory& read) {
  if (heap_of(header.arena) == start) return header.previous == 0;
  if (header.previous == 0 || header.previous == start) return false;
  const std::optional<HeapHeader> first = header_at(heap_of(header.arena), read);
  return first && first->arena == header.arena && first->previous == 0;
}

/// The kernel copies what it can into a pipe and says so where it cannot.
bool read_through_pipe(std::uint64_t address, void* target, std::size_t size) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  const auto wanted = static_cast<ssize_t>(size);
  const bool copied = write(ends[1], reinterpret_cast<const void*>(address), size) == wanted &&
                      read(ends[0], target, size) == wanted;
  close(ends[0]);
  close(ends[1]);
  return copied;
}

}  // namespace

bool read_own_memory(std::uint64_t address, void* target, std::size_t size) {
  const iovec local{target, size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (copied == static_cast<ssize_t>(size)) return true;
  // Containers may forbid the call.
  return copied < 0 && errno != EFAULT && read_through_pipe(address, target, size);
}

std::vector<ArenaRange> thread_heaps(const std::vector<Mapping>& mappings, const ReadMemory& read) {
  std::vector<ArenaRange> heaps;
  for (const Mapping& mapping : mappings) {
    const bool candidate = mapping.readable && mapping.writable && !mapping.shared &&
                           mapping.inode == 0 && mapping.name != "[heap]" &&
                           mapping.size() <= kLargestMapping && mapping.end <= kEndOfUserSpace;
    if (!candidate) continue;
    const std::uint64_t first = heap_of(mapping.start + kHeapSpan - 1);
    for (std::uint64_t start = first; start < mapping.end; start += kHeapSpan) {
      const std::optional<HeapHeader> header = header_at(start, read);
      if (header && is_heap(start, *header, read)) heaps.push_back({start, start + header->size});
    }
  }
  return heaps;
}

}  // namespace ebb::heap
