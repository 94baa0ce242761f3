// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fl/simulation.h"
#include "keep/cleanup.h"
#include "run/journal.h"

namespace ebb::cli {

/// One simulation as a run in the record: this process, a sample and a round for each round, what
/// cleanups returned, how it ended. `ebb runs`, `ebb report` and `ebb doctor RUN` read it.
class SimulateRecord {
 public:
  /// `path` empty: nothing is recorded. `words` is the command line.
  SimulateRecord(const std::string& path, const std::string& name,
                 const std::vector<std::string>& words, std::uint64_t limit);

  void add(const fl::RoundReport& round);
  /// A cleanup after the last round.
  void add(const keep::CleanupReport& cleanup);
  void warn(const std::string& line);
  /// `ending` as record::Run has it.
  void end(int exit_code, const std::string& ending);

  /// 0 where nothing is recorded.
  std::int64_t run_id() const { return journal_.run_id(); }

 private:
  double now() const;
  void sample(const fl::RoundReport* round);

  record::Run run_;
  std::int64_t began_ns_;
  record::ProcessKey process_;
  run::Journal journal_;
};

}  // namespace ebb::cli
