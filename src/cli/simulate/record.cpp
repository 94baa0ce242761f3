// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/record.h"

#include "base/program.h"
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
  StoredSimulation(const std::string& path, const record::Run& run)
      : record_(path, run, "ebb-simulate " + run.name) {}

  void add(const fl::RoundReport& round) override {
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
                                                  std::uint64_t limit) {
  if (path.empty()) return std::make_unique<SimulateRecord>();
  return std::make_unique<StoredSimulation>(path, simulator_run(name, limit));
}

}  // namespace ebb::cli
