// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/record.h"

#include "base/program.h"
#include "fl/recorded.h"
#include "record/place.h"
#include "run/self_record.h"

namespace ebb::cli {
namespace {

record::Run simulator_run(const std::string& name, std::uint64_t limit) {
  std::vector<std::string> words = base::command_line();
  if (!words.empty()) words.front() = "ebb";
  record::Run run = record::beginning_run(name, words);
  run.role = "simulator";
  run.limit = limit;
  return run;
}

class StoredSimulation final : public SimulateRecord {
 public:
  StoredSimulation(const std::string& path, const record::Run& run, const PlaceInSweep& place,
                   const fl::SimulationResult& so_far)
      : record_(path, run, "ebb-simulate " + run.name) {
    record_.add(record::Simulation{place.sweep, place.part, place.parts,
                                   fl::beginning_json(so_far).text()});
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

std::unique_ptr<SimulateRecord> record_simulation(const std::string& path, const std::string& name,
                                                  std::uint64_t limit, const PlaceInSweep& place,
                                                  const fl::SimulationResult& so_far) {
  if (path.empty()) return std::make_unique<SimulateRecord>();
  return std::make_unique<StoredSimulation>(path, simulator_run(name, limit), place, so_far);
}

}  // namespace ebb::cli
