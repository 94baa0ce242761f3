// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fact/cleanup.h"
#include "fl/simulation.h"

namespace ebb::cli {

/// One simulation as a run in the record: this process, a sample and a round for each round, what
/// cleanups returned, how it ended. `ebb runs`, `ebb report` and `ebb doctor RUN` read it. By
/// itself it records nothing.
class SimulateRecord {
 public:
  virtual ~SimulateRecord() = default;

  virtual void add(const fl::RoundReport&) {}
  /// A cleanup after the last round.
  virtual void add(const fact::Cleanup&) {}
  virtual void warn(const std::string&) {}
  /// An RSS marker.
  virtual void mark(const std::string&) {}
  virtual void end(int /*exit_code*/) {}

  /// 0 where nothing is recorded.
  virtual std::int64_t run_id() const { return 0; }
};

/// One of several simulations that are to be compared.
struct PlaceInSweep {
  std::string sweep;  ///< the same for all of them, and for nothing else
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
};

/// Begins a run in the record at `path`, with the rounds that were simulated before it; one that
/// records nothing where `path` is empty.
std::unique_ptr<SimulateRecord> record_simulation(const std::string& path, const std::string& name,
                                                  std::uint64_t limit, const PlaceInSweep& place,
                                                  const fl::SimulationResult& so_far);

}  // namespace ebb::cli
