// SPDX-License-Identifier: Apache-2.0
#include "run/self_record.h"

#include <unistd.h>

#include "base/clock.h"
#include "heap/host_allocator.h"
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
    sample.live = round->live;
    sample.retained = round->retained;
  }
  journal_.add(sample);
}

void SelfRecord::add(const Round& round) {
  if (journal_.run_id() == 0) return;
  if (round.returned > 0) {
    record::Action action;
    action.process = process_;
    action.seconds = now();
    action.what = "cleanup";
    action.reason = "round";
    action.returned = round.returned;
    action.rss_before = round.rss + round.returned;
    action.rss_after = round.rss;
    action.live_after = round.live;
    action.retained_after = round.retained;
    journal_.add(action);
  }
  sample(&round);
  journal_.add(record::Round{process_, now(), round.number});
  journal_.check();
}

void SelfRecord::add(const keep::CleanupReport& cleanup) {
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

void SelfRecord::warn(const std::string& line) {
  journal_.add(record::Event{now(), "warn", line, process_});
}

void SelfRecord::end(int exit_code, const std::string& ending) {
  journal_.process_ended(process_, now());
  run_.ended = run_.started + now();
  run_.exit_code = exit_code;
  run_.ending = ending;
  journal_.end(run_);
}

}  // namespace ebb::run
