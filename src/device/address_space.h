// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "device/driver.h"

namespace ebb::device {

/// Where new ranges go when no freed one is taken.
enum class Growth : std::uint8_t { up, down };

/// Which freed range a new one may take.
enum class Reuse : std::uint8_t {
  never,
  lowest,   ///< at the start of the lowest that holds it (first fit)
  highest,  ///< at the end of the highest that holds it
  latest,   ///< at the start of the one freed last that holds it
};

/// How a simulated device assigns addresses. Allocators whose ties are broken by address place
/// blocks differently under different models; no model is exact for a real driver.
struct AddressModel {
  Growth growth = Growth::up;
  Reuse reuse = Reuse::never;
  /// Ranges start at multiples of it and take whole multiples. A power of two.
  std::uint64_t step = 2 * base::kMiB;
  /// Not 0: space is taken in chunks of a multiple of this, and returned when a chunk is empty. A
  /// range goes to the lowest free place inside a chunk, else into a new chunk, at the end of the
  /// highest returned space or beyond all others as `growth` says; `reuse` plays no part. A power
  /// of two, at least `step`.
  std::uint64_t chunk = 0;

  static AddressModel ascending() { return {}; }
  static AddressModel descending() { return {.growth = Growth::down}; }
  static AddressModel first_fit() { return {.reuse = Reuse::lowest}; }
  static AddressModel last_freed() { return {.reuse = Reuse::latest}; }
  /// The closest simple description of CUDA 13 on an H200: chunks of 32 MiB, growing down.
  static AddressModel like_cuda() { return {.growth = Growth::down, .chunk = 32 * base::kMiB}; }
};

/// The addresses of one simulated device: which are in use, and which come next. Ranges in use
/// never overlap. Not thread-safe.
class AddressSpace {
 public:
  explicit AddressSpace(AddressModel model);

  /// A range by the model. Code::out_of_memory when the address space is exhausted.
  base::Result<Address> take(std::uint64_t bytes);

  /// This very range. Code::bad_input when it overlaps one in use, is 0 or runs over the end.
  base::Status take_at(Address address, std::uint64_t bytes);

  /// Requires: a range that was taken and not given back.
  void give_back(Address address);

 private:
  struct Range {
    Address start = 0;
    std::uint64_t bytes = 0;
  };

  std::optional<Address> from_freed(std::uint64_t bytes, Reuse reuse);
  std::optional<Address> from_chunks(std::uint64_t bytes) const;
  std::optional<Address> grow(std::uint64_t bytes, std::uint64_t alignment);
  void include_in_chunk(Address address, std::uint64_t bytes);
  void return_chunk_if_empty(Address address);
  void add_freed(Range range);
  void remove_freed(Range range);

  AddressModel model_;
  std::map<Address, std::uint64_t> used_;    // start -> bytes
  std::map<Address, std::uint64_t> chunks_;  // start -> bytes; only with model_.chunk
  std::vector<Range> freed_;                 // in order of time; with chunks those returned
  Address low_;                              // everything ever taken lies in [low_, high_)
  Address high_;
};

}  // namespace ebb::device
