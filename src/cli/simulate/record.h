// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fl/simulation.h"
#include "keep/cleanup.h"

namespace ebb::cli {

/// One simulation as a run in the record: this process, a sample and a round for each round, what
/// cleanups returned, how it ended. `ebb runs`, `ebb report` and `ebb doctor RUN` read it. By
/// itself it records nothing.
class SimulateRecord {
 public:
  virtual ~SimulateRecord() = default;

  virtual void add(const fl::RoundReport&) {}
  /// A cleanup after the last round.
  virtual void add(const keep::CleanupReport&) {}
  virtual void warn(const std::string&) {}
  /// `ending` as record::Run has it.
  virtual void end(int /*exit_code*/, const std::string& /*ending*/) {}

  /// 0 where nothing is recorded.
  virtual std::int64_t run_id() const { return 0; }
};

/// Begins a run in the record at `path`; one that records nothing where that is empty. `words` is
/// the command line.
std::unique_ptr<SimulateRecord> record_simulation(const std::string& path, const std::string& name,
                                                  const std::vector<std::string>& words,
                                                  std::uint64_t limit);

}  // namespace ebb::cli
