// SPDX-License-Identifier: Apache-2.0
#include "trace/tables.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cstring>

#include "trace/words.h"

namespace ebb::trace {
namespace {

/// What one allocation costs beside its bytes.
constexpr std::uint64_t kMallocCost = 16;

/// Differs from process to process, so that nobody can write a file whose texts all collide.
std::uint64_t hash_seed() {
  std::uint64_t seed = 0;
  if (const auto* random = reinterpret_cast<const char*>(getauxval(AT_RANDOM))) {
    std::memcpy(&seed, random, sizeof seed);
  }
  return seed;
}

const std::uint64_t kSeed = hash_seed();

std::uint32_t hash_of(const char* bytes, std::size_t count) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = kSeed ^ count * kPrime;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  };
  for (; count >= 8; count -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    mix(word);
  }
  std::uint64_t word = 0;
  if (count >= 4) {
    std::uint32_t high = 0;
    std::memcpy(&high, bytes + count - 4, 4);
    std::uint32_t low = 0;
    std::memcpy(&low, bytes, 4);
    word = static_cast<std::uint64_t>(high) << 32 | low;
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      word = word << 8 | static_cast<unsigned char>(bytes[i]);
    }
  }
  mix(word);
  return static_cast<std::uint32_t>(hash);
}

/// Well-formed UTF-8, surrogates included: Python writes them with "surrogatepass".
bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    if (*at < 0x80) {
      ++at;
      continue;
    }
    const int more = *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : 1;
    if (*at < 0xC2 || *at > 0xF4 || end - at <= more) return false;
    if ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xF0 && at[1] < 0x90) ||
        (*at == 0xF4 && at[1] > 0x8F)) {
      return false;
    }
    for (int i = 1; i <= more; ++i) {
      if ((at[i] & 0xC0) != 0x80) return false;
    }
    at += 1 + more;
  }
  return true;
}

}  // namespace

void IndexTable::put(Place place) {
  std::size_t at = place.hash & mask();
  while (places_[at].index != kNone) {
    at = (at + 1) & mask();
  }
  places_[at] = place;
}

void IndexTable::add(std::uint32_t hash, Index index) {
  if (used_ * 3 >= places_.size() * 2) {
    std::vector<Place> old = std::move(places_);
    const std::size_t size = std::max<std::size_t>(64, old.size() * 2);
    budget_.charge(size * sizeof(Place));
    places_ = std::vector<Place>(size);
    for (const Place& place : old) {
      if (place.index != kNone) put(place);
    }
    budget_.release(old.size() * sizeof(Place));
  }
  put({hash, index});
  ++used_;
}

TextTable::TextTable(MemoryBudget& budget) : budget_(budget), table_(budget) {
  for (std::uint32_t word = 0; word < kWords; ++word) {
    static_cast<void>(intern(spelling_of(word)));
  }
}

Index TextTable::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text.data(), text.size());
  const Index known = table_.find(hash, [&](Index index) { return texts_[index] == text; });
  if (known != kNone) return known;
  if (!is_utf8(text)) return kNone;
  budget_.make_room(texts_);
  budget_.charge(text.size() > 15 ? text.size() + kMallocCost : 0);
  const auto index = static_cast<Index>(texts_.size());
  texts_.emplace_back(text);
  table_.add(hash, index);
  return index;
}

Index StackTable::intern(std::span<const Index> frames) {
  const std::uint32_t hash =
      hash_of(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  const Index known = table_.find(hash, [&](Index index) {
    return std::equal(frames.begin(), frames.end(), stacks_[index].begin(), stacks_[index].end());
  });
  if (known != kNone) return known;
  budget_.make_room(stacks_);
  budget_.charge(frames.size_bytes() + kMallocCost);
  const auto index = static_cast<Index>(stacks_.size());
  stacks_.emplace_back(frames.begin(), frames.end());
  table_.add(hash, index);
  return index;
}

Index FrameTable::intern(const Frame& frame) {
  static_assert(sizeof(Frame) == 16);
  const std::uint32_t hash = hash_of(reinterpret_cast<const char*>(&frame), sizeof frame);
  const Index known = table_.find(
      hash, [&](Index index) { return std::memcmp(&frames_[index], &frame, sizeof frame) == 0; });
  if (known != kNone) return known;
  budget_.make_room(frames_);
  const auto index = static_cast<Index>(frames_.size());
  frames_.push_back(frame);
  table_.add(hash, index);
  return index;
}

}  // namespace ebb::trace
