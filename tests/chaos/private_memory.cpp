// SPDX-License-Identifier: Apache-2.0
#include "private_memory.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kMostBlocks = 240;
constexpr std::size_t kLargestBlock = std::size_t{1} << 18;

}  // namespace

PrivateAllocator PrivateAllocator::open() {
  PrivateAllocator allocator;
  void* library = ::dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) {
    allocator.take_ = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(library, "mi_malloc"));
    allocator.give_back_ = reinterpret_cast<void (*)(void*)>(::dlsym(library, "mi_free"));
  }
  if (allocator.take_ == nullptr || allocator.give_back_ == nullptr) {
    allocator.take_ = &std::malloc;
    allocator.give_back_ = &std::free;
  }
  return allocator;
}

PrivateMemory::~PrivateMemory() {
  for (const Block& block : blocks_)
    allocator_.give_back(block.at);
}

std::uint64_t PrivateMemory::change(Random& random) {
  if (blocks_.size() < kMostBlocks) {
    for (std::size_t i = 0; i < kMostBlocks / 2; ++i) {
      Block block;
      block.bytes = kLargestBlock / 2 + random.below(kLargestBlock / 2);
      block.at = static_cast<unsigned char*>(allocator_.take(block.bytes));
      if (block.at == nullptr) std::_Exit(94);
      std::memset(block.at, static_cast<int>(random.below(256)), block.bytes);
      blocks_.push_back(block);
    }
  } else {
    for (std::size_t i = 0; i < kMostBlocks / 2; ++i) {
      allocator_.give_back(blocks_.back().at);
      blocks_.pop_back();
    }
  }
  std::uint64_t hash = 0;
  for (const Block& block : blocks_)
    hash = hash * 31 + block.bytes + block.at[0] + block.at[block.bytes - 1];
  return hash;
}
