// SPDX-License-Identifier: Apache-2.0
#include "run/self_record.h"

#include <unistd.h>

#include "base/clock.h"
#include "heap/host_allocator.h"
#include "run/samples.h"
#include "sense/process.h"

namespace ebb::run {

SelfRecord::SelfRecord(const std::string& path, const record::Run& run, const std::string& command)
    : run_(run), began_ns_(base::system_clock().now_ns()), journal_(path, run_, false) {
  record::Process process;
  process.pid = ::getpid();
  if (const auto reading = sense::read_process()) {
    process.start = reading->start_ticks;
    process.parent = reading->parent;
  }
  process.command = command;
  process.allocator = heap::name_of(heap::host_allocator().kind());
  process_ = process.key();
  journal_.add(process);
  sample(nullptr);
}

double SelfRecord::now() const {
  return base::seconds_between(began_ns_, base::system_clock().now_ns());
}

void SelfRecord::sample(const Round* round) {
  const auto reading = sense::read_process();
  if (!reading) return;
  record::Sample sample = sample_of(*reading, process_, now());
  if (round != nullptr) {
    sample.memory.live = round->memory.live;
    sample.memory.retained = round->memory.retained;
  }
  journal_.add(sample);
}

void SelfRecord::add(const Round& round) {
  if (journal_.run_id() == 0) return;
  if (round.returned > 0 || !round.devices.empty()) {
    fact::Cleanup cleanup;
    cleanup.trigger = fact::Trigger::round;
    cleanup.returned = round.returned;
    if (round.memory.rss) cleanup.before.rss = *round.memory.rss + round.returned;
    cleanup.after = round.memory;
    cleanup.devices = round.devices;
    journal_.add(record::Action{process_, now(), cleanup});
  }
  sample(&round);
  journal_.add(record::Round{process_, now(), round.number});
  journal_.check();
}

void SelfRecord::add(const fact::Cleanup& cleanup) {
  if (journal_.run_id() == 0) return;
  journal_.add(record::Action{process_, now(), cleanup});
  sample(nullptr);
}

void SelfRecord::warn(const std::string& line) {
  journal_.add(record::Event{now(), "warn", line, process_});
}

void SelfRecord::mark(const std::string& line) {
  journal_.add(record::Event{now(), name_of(record::EventKind::marker), line, process_});
}

void SelfRecord::end(int exit_code) {
  journal_.process_ended(process_, now());
  run_.ended = run_.started + now();
  run_.exit_code = exit_code;
  run_.ending = fact::RunEnd::exit;
  journal_.end(run_);
}

}  // namespace ebb::run
