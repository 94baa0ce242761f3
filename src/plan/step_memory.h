// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/core.h"
#include "device/sim_driver.h"
#include "plan/part.h"

namespace ebb::plan {

/// What was there at one moment.
struct MemoryState {
  std::uint64_t allocated = 0;  ///< bytes of blocks, PyTorch's memory_allocated
  std::uint64_t reserved = 0;   ///< bytes of segments, PyTorch's memory_reserved
  PartBytes parts;              ///< sums to `allocated`
};

/// The device's memory during a rehearsal: PyTorch's caching allocator over a simulated device
/// without end, and who holds what. One thread.
class StepMemory {
 public:
  using Block = std::uint32_t;

  static base::Result<std::unique_ptr<StepMemory>> create();

  /// Takes a block. A request beyond all sense is remembered as failed() and takes nothing.
  Block take(std::uint64_t bytes, Part part);
  void give(Block block);
  /// The block serves another part from now on.
  void relabel(Block block, Part part);

  /// Starts a phase: peaks count from here.
  void begin_phase() {
    peak_ = now();
    peak_doing_ = "";
  }
  /// What is done at the moment, for the peak; a string that outlives the memory.
  void doing(const char* what) { doing_ = what; }

  MemoryState now() const;
  /// The largest allocated bytes since begin_phase, and what was there then.
  const MemoryState& peak() const { return peak_; }
  const char* peak_doing() const { return peak_doing_; }
  std::uint64_t peak_reserved() const { return peak_reserved_; }
  bool failed() const { return failed_; }
  /// The allocator, for its history and snapshots.
  cache::Core& allocator() { return *core_; }

 private:
  struct Held {
    device::Address address = 0;
    std::uint64_t requested = 0;
    std::uint64_t size = 0;
    Part part = Part::temporaries;
  };

  StepMemory();

  device::SimDriver driver_;
  std::unique_ptr<cache::Core> core_;
  std::vector<Held> held_;
  std::vector<Block> unused_;
  PartBytes parts_;
  std::uint64_t allocated_ = 0;
  MemoryState peak_;
  std::uint64_t peak_reserved_ = 0;
  const char* doing_ = "";
  const char* peak_doing_ = "";
  bool failed_ = false;
};

}  // namespace ebb::plan
