// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// What a random job does: each step the same for the same numbers, whatever happens around it.

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

/// Allocates and frees.
std::uint64_t use_heap(Random& random);
/// Maps memory of its own.
std::uint64_t use_own_pages(Random& random);
/// The status of a child that does a little and ends, or is killed.
std::uint64_t use_child(Random& random);
/// What programs do that turn into daemons: every descriptor but the first three is gone.
void close_descriptors();

/// Ends the process where it cannot.
void write_all(int descriptor, const std::string& text);
