// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "fact/cleanup.h"
#include "run/journal.h"

namespace ebb::run {

/// A run that this process records of itself, without a supervisor: the process, a sample and a
/// round for each round, what cleanups returned, how it ended. Not thread-safe.
class SelfRecord {
 public:
  /// Memory at the end of a round.
  struct Round {
    std::uint64_t number = 0;
    fact::ProcessSample memory;
    std::uint64_t returned = 0;  ///< by cleanups after it
    std::vector<base::DeviceChange> devices{};
  };

  /// `command` is what the process is listed as.
  SelfRecord(const std::string& path, const record::Run& run, const std::string& command);

  void add(const Round& round);
  void add(record::Simulation simulation) { journal_.add(std::move(simulation)); }
  void add(record::SimulatedRound round) { journal_.add(std::move(round)); }
  /// A cleanup after the last round.
  void add(const fact::Cleanup& cleanup);
  void warn(const std::string& line);
  void mark(const std::string& line);
  void end(int exit_code);

  /// 0 where nothing is recorded.
  std::int64_t run_id() const { return journal_.run_id(); }

 private:
  double now() const;
  void sample(const Round* round);

  record::Run run_;
  std::int64_t began_ns_;
  record::ProcessKey process_;
  Journal journal_;
};

}  // namespace ebb::run
