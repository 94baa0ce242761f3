// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/record.h"

#include <unistd.h>

#include "base/clock.h"
#include "cli/run_store.h"
#include "heap/host_allocator.h"
#include "run/journal.h"
#include "sense/process.h"

namespace ebb::cli {
namespace {

record::Run run_of(const std::string& name, const std::vector<std::string>& words,
                   std::uint64_t limit) {
  record::Run run = beginning_run(name, words);
  run.role = "simulator";
  run.limit = limit;
  return run;
}

class JournalledRecord final : public SimulateRecord {
 public:
  JournalledRecord(const std::string& path, const record::Run& run);

  void add(const fl::RoundReport& round) override;
  void add(const keep::CleanupReport& cleanup) override;
  void warn(const std::string& line) override;
  void end(int exit_code, const std::string& ending) override;
  std::int64_t run_id() const override { return journal_.run_id(); }

 private:
  double now() const;
  void sample(const fl::RoundReport* round);

  record::Run run_;
  std::int64_t began_ns_;
  record::ProcessKey process_;
  run::Journal journal_;
};

JournalledRecord::JournalledRecord(const std::string& path, const record::Run& run)
    : run_(run), began_ns_(base::system_clock().now_ns()), journal_(path, run_, false) {
  record::Process process;
  process.pid = ::getpid();
  if (const auto reading = sense::read_process()) {
    process.start = reading->start_ticks;
    process.parent = reading->parent;
  }
  process.command = "ebb-simulate " + run.name;
  process.allocator = heap::name_of(heap::host_allocator().kind());
  process_ = process.key();
  journal_.add(process);
  sample(nullptr);
}

double JournalledRecord::now() const {
  return base::seconds_between(began_ns_, base::system_clock().now_ns());
}

void JournalledRecord::sample(const fl::RoundReport* round) {
  const auto reading = sense::read_process();
  if (!reading) return;
  record::Sample sample;
  sample.process = process_;
  sample.seconds = now();
  sample.rss = reading->rss;
  sample.anon = reading->anon;
  sample.file = reading->file;
  sample.shmem = reading->shmem;
  sample.swap = reading->swap;
  sample.minor_faults = reading->minor_faults;
  sample.cpu_seconds = reading->cpu_seconds;
  if (round != nullptr) {
    sample.live = round->memory.live;
    sample.retained = round->memory.retained;
  }
  journal_.add(sample);
}

void JournalledRecord::add(const fl::RoundReport& round) {
  if (journal_.run_id() == 0) return;
  if (round.memory.returned > 0) {
    record::Action action;
    action.process = process_;
    action.seconds = now();
    action.what = "cleanup";
    action.reason = "round";
    action.returned = round.memory.returned;
    action.rss_before = round.memory.rss + round.memory.returned;
    action.rss_after = round.memory.rss;
    action.live_after = round.memory.live;
    action.retained_after = round.memory.retained;
    journal_.add(action);
  }
  sample(&round);
  journal_.add(record::Round{process_, now(), round.round});
  journal_.check();
}

void JournalledRecord::add(const keep::CleanupReport& cleanup) {
  if (journal_.run_id() == 0) return;
  record::Action action;
  action.process = process_;
  action.seconds = now();
  action.what = "cleanup";
  action.reason = "job";
  action.rss_before = cleanup.before.rss;
  action.rss_after = cleanup.after.rss;
  action.returned = cleanup.returned;
  action.live_after = cleanup.after.live;
  action.retained_after = cleanup.after.retained;
  action.cost_seconds = cleanup.seconds;
  action.deep = cleanup.depth == heap::Depth::deep;
  journal_.add(action);
  sample(nullptr);
}

void JournalledRecord::warn(const std::string& line) {
  journal_.add(record::Event{now(), "warn", line, process_});
}

void JournalledRecord::end(int exit_code, const std::string& ending) {
  journal_.process_ended(process_, now());
  run_.ended = run_.started + now();
  run_.exit_code = exit_code;
  run_.ending = ending;
  journal_.end(run_);
}

}  // namespace

std::unique_ptr<SimulateRecord> record_simulation(const std::string& path, const std::string& name,
                                                  const std::vector<std::string>& words,
                                                  std::uint64_t limit) {
  if (path.empty()) return std::make_unique<SimulateRecord>();
  return std::make_unique<JournalledRecord>(path, run_of(name, words, limit));
}

}  // namespace ebb::cli
