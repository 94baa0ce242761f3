// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/workload.h"

namespace ebb::replay::generator {

/// Writes down what a made-up job asks of its allocator, on an empty device from the first request
/// on. Not thread-safe.
class Tape {
 public:
  using Block = std::uint32_t;

  /// `stream` 0 computes, 1 copies.
  Block take(std::uint64_t bytes, std::uint16_t stream = 0);
  void give(Block block);
  void give(std::vector<Block>& blocks);  ///< in their order; none are left
  /// Gives it back while another stream still uses it, until complete().
  void give_later(Block block);
  void complete(Block block);
  void empty_cache();

  std::uint64_t requests() const { return requests_; }
  std::size_t operations() const { return operations_.size(); }

  /// What a recording of the first operations under default settings holds.
  Workload first(std::size_t operations) const;

 private:
  void add(Operation::Kind kind, Block block);

  std::vector<Operation> operations_;
  std::vector<std::uint16_t> stream_of_;
  std::uint64_t requests_ = 0;
};

}  // namespace ebb::replay::generator
