// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "archive/simulation_record.h"
#include "fl/sweep_run.h"
#include "show/simulate/progress.h"

namespace ebb::cli {

/// Tells people and the record what happens in one simulation. Nothing is printed or recorded of
/// one that is refused before its first round.
class SimulateWatcher : public fl::Observer {
 public:
  struct About {
    fl::SweepPart part;
    std::string record_path;
    bool prints_plan = false;
    bool quiet = false;
    bool streams = false;  ///< rounds and warnings as lines of JSON on stdout
  };

  explicit SimulateWatcher(About about) : about_(std::move(about)) {}

  void planned(const fl::MemoryPlan& plan) override;
  void begins(const fl::SimulationResult& so_far) override;
  void round_done(const fl::RoundReport& round) override;
  void warned(const std::string& line) override;
  void marked(const std::string& line) override;
  bool should_stop() override;

  void end_progress() { progress_.reset(); }
  /// Null where no round was begun.
  archive::SimulationRecord* record() { return record_.get(); }

 private:
  /// One line; where nobody reads any more, the simulation is to stop as if it had been asked to.
  void stream(const char* event, const base::Json& members) const;

  const About about_;
  std::string plan_text_;
  std::unique_ptr<show::SimulateProgress> progress_;
  std::unique_ptr<archive::SimulationRecord> record_;
};

}  // namespace ebb::cli
