// SPDX-License-Identifier: Apache-2.0
#include "limited_memory.h"

#include <atomic>
#include <cstdlib>
#include <limits>

namespace {

constexpr long kUnlimited = std::numeric_limits<long>::max();
std::atomic<long> allocations_left{kUnlimited};

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  if (allocations_left != kUnlimited && --allocations_left < 0) return nullptr;
  return std::malloc(size);
}
void* operator new(std::size_t size) {
  if (void* memory = ::operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace ebb::base {

LimitedMemory::LimitedMemory(long allocations) {
  allocations_left = allocations;
}

LimitedMemory::~LimitedMemory() {
  allocations_left = kUnlimited;
}

}  // namespace ebb::base
