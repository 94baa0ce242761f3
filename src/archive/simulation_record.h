// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fact/cleanup.h"
#include "fl/sweep_run.h"

// archive: simulations as runs of the record.

namespace ebb::archive {

/// One simulation as a run in the record: this process, a sample and a round for each round, what
/// cleanups returned, how it ended. `ebb runs`, `ebb report` and `ebb doctor RUN` read it. By
/// itself it records nothing.
class SimulationRecord {
 public:
  virtual ~SimulationRecord() = default;

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

/// Begins a run in the record at `path`, with the rounds that were simulated before it; one that
/// records nothing where `path` is empty.
std::unique_ptr<SimulationRecord> record_simulation(const std::string& path,
                                                    const fl::SweepPart& part,
                                                    const fl::SimulationResult& so_far);

}  // namespace ebb::archive
