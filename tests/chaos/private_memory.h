// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "random_steps.h"

/// An allocator that serves nobody but who asks for it by name: libmimalloc, opened so that its
/// malloc is not the process's (as Arrow has one). Opened before the first fork and thread.
class PrivateAllocator {
 public:
  /// Without the library malloc serves: what comes of it is the same.
  static PrivateAllocator open();

  void* take(std::size_t bytes) const { return take_(bytes); }
  void give_back(void* block) const { give_back_(block); }

 private:
  void* (*take_)(std::size_t) = nullptr;
  void (*give_back_)(void*) = nullptr;
};

/// What one worker has of it. It grows to so much that it is worth a search, and shrinks again.
class PrivateMemory {
 public:
  explicit PrivateMemory(const PrivateAllocator& allocator) : allocator_(allocator) {}
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;
  ~PrivateMemory();

  /// Takes blocks, or gives half of them back; a hash of what is in those it has.
  std::uint64_t change(Random& random);

 private:
  struct Block {
    unsigned char* at = nullptr;
    std::size_t bytes = 0;
  };

  const PrivateAllocator& allocator_;
  std::vector<Block> blocks_;
};
