// SPDX-License-Identifier: Apache-2.0
#include "archive/simulation_record.h"

#include "base/program.h"
#include "fl/recorded.h"
#include "record/place.h"
#include "run/self_record.h"

namespace ebb::archive {
namespace {

record::Run simulator_run(const fl::SweepPart& part) {
  std::vector<std::string> words = base::command_line();
  if (!words.empty()) words.front() = "ebb";
  record::Run run = record::beginning_run(part.name, words);
  run.role = "simulator";
  run.limit = part.limit;
  return run;
}

class StoredSimulation final : public SimulationRecord {
 public:
  StoredSimulation(const std::string& path, const fl::SweepPart& part,
                   const fl::SimulationResult& so_far)
      : record_(path, simulator_run(part), "ebb-simulate " + part.name) {
    record_.add(
        record::Simulation{part.sweep, part.part, part.parts, fl::beginning_json(so_far).text()});
    for (const fl::RoundReport& round : so_far.rounds)
      record_.add(record::SimulatedRound{round.round, fl::to_json(round).text()});
  }

  void add(const fl::RoundReport& round) override {
    record_.add(record::SimulatedRound{round.round, fl::to_json(round).text()});
    const fl::RoundMemory& memory = round.memory;
    record_.add({round.round, memory.now, memory.returned, memory.devices});
  }
  void add(const fact::Cleanup& cleanup) override { record_.add(cleanup); }
  void warn(const std::string& line) override { record_.warn(line); }
  void mark(const std::string& line) override { record_.mark(line); }
  void end(int exit_code) override { record_.end(exit_code); }
  std::int64_t run_id() const override { return record_.run_id(); }

 private:
  run::SelfRecord record_;
};

}  // namespace

std::unique_ptr<SimulationRecord> record_simulation(const std::string& path,
                                                    const fl::SweepPart& part,
                                                    const fl::SimulationResult& so_far) {
  if (path.empty()) return std::make_unique<SimulationRecord>();
  return std::make_unique<StoredSimulation>(path, part, so_far);
}

}  // namespace ebb::archive
