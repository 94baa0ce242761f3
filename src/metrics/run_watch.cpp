// SPDX-License-Identifier: Apache-2.0
#include "metrics/run_watch.h"

#include <algorithm>
#include <string>

#include "metrics/catalogue.h"
#include "story/process_ledger.h"

namespace ebb::metrics {
namespace {

// Of processes beyond these only the number is told, so that a job which starts thousands does not
// fill a database of metrics.
constexpr std::size_t kMostProcesses = 256;
// What was not read for so long is no longer told. Allocators are asked more seldom than the
// kernel.
constexpr double kStaleSeconds = 30;
constexpr double kStaleIntervals = 10;
constexpr double kStaleLedgerSeconds = 300;
// The recorder writes what it has once a second.
constexpr double kOverlapSeconds = 3;

std::vector<const char*> verdict_names() {
  std::vector<const char*> names;
  for (const fact::Verdict verdict : fact::kProcessVerdicts)
    names.push_back(fact::name_of(verdict));
  return names;
}

std::optional<std::uint64_t> mean_of(const std::optional<record::Extent>& extent) {
  return extent ? std::optional(extent->mean) : std::nullopt;
}

}  // namespace

void RunWatch::take(const record::RecordedRun& recent) {
  summary_ = recent.summary;
  devices_ = recent.devices;
  if (!recent.place.empty()) place_ = recent.place.back().now;
  std::map<record::ProcessKey, ProcessNow> known = std::move(processes_);
  processes_.clear();
  for (const record::ProcessHistory& history : recent.processes) {
    if (history.process.ended) continue;
    const record::ProcessKey key = history.process.key();
    ProcessNow& process = processes_[key] = std::move(known[key]);
    process.number = history.number;
    process.about = history.process;
    process.cleanups = {};
    take_readings(recent, history);
  }
  for (const record::Action& action : recent.actions) {
    const auto found = processes_.find(action.process);
    if (found == processes_.end()) continue;
    keep::CleanupSum& sum = found->second.cleanups;
    sum.count += action.count;
    sum.returned += action.cleanup.returned;
    sum.cost_seconds += action.cleanup.seconds;
  }
  recent_from_ = std::max(0.0, sampled_ - kOverlapSeconds);
}

void RunWatch::take_readings(const record::RecordedRun& recent,
                             const record::ProcessHistory& history) {
  if (history.readings.empty()) return;
  ProcessNow& process = processes_[history.process.key()];
  process.last = history.readings.back();
  sampled_ = std::max(sampled_, process.last.until);
  double told = process.last.until;
  for (const record::Reading& reading : history.readings) {
    if (reading.pss) process.proportional = reading.pss->mean;
    if (reading.live && reading.retained) told = reading.until;
  }
  // Without what mappings told: there are no families for it, and the others shall add up.
  fact::Ledger ledger =
      story::ledger_of(history, story::private_allocators_of(recent, history.process.key()));
  // Of a piece in which its allocator said nothing, the ledger knows less than the one before.
  const bool is_old = process.last.until - process.ledger_seconds > kStaleLedgerSeconds;
  if (!ledger.live && process.ledger.live && !is_old) return;
  process.ledger = std::move(ledger);
  process.ledger_seconds = told;
}

void RunWatch::judge(const record::RecordedRun& whole) {
  const story::RunStory story = story::story_of(whole);
  verdict_ = story.diagnosis.verdict;
  judged_.clear();
  for (const story::ProcessStory& process : story.processes) {
    if (process.process.ended || process.diagnosis.evidence.is_null()) continue;
    judged_[process.process.key()] = {process.diagnosis.verdict, process.diagnosis.rss_growth,
                                      process.diagnosis.seconds_until_limit};
  }
}

void RunWatch::add_to(Families& families, double unix_seconds) const {
  const record::Run& run = summary_.run;
  const Labels labels{{"run", std::to_string(run.id)}};
  families.add(kRun, {labels[0], {"role", run.role}}, 1);
  families.add(kRunStarted, labels, run.started);
  if (sampled_ > 0) families.add(kRunSampled, labels, run.started + sampled_);
  families.add(kRunProcesses, labels, static_cast<double>(processes_.size()));
  families.add(kRunRounds, labels, static_cast<double>(summary_.rounds));
  families.add(kRunLost, labels, static_cast<double>(summary_.lost));
  if (verdict_) families.add_state(kRunVerdict, labels, verdict_names(), fact::name_of(*verdict_));
  const double seconds = unix_seconds - run.started;
  const double stale = std::max(kStaleSeconds, kStaleIntervals * run.interval);
  if (place_ && seconds - place_->seconds < stale) add_place(families, labels);
  add_devices(families, labels, seconds - stale);
  // The oldest first: what a job started first stays in, however many come.
  std::vector<const ProcessNow*> shown;
  for (const auto& [key, process] : processes_)
    if (process.last.rss && seconds - process.last.until < stale) shown.push_back(&process);
  std::sort(shown.begin(), shown.end(),
            [](const ProcessNow* a, const ProcessNow* b) { return a->number < b->number; });
  if (shown.size() > kMostProcesses) shown.resize(kMostProcesses);
  for (const ProcessNow* process : shown)
    add_process(families, {labels[0], {"process", std::to_string(process->number)}}, *process,
                seconds);
}

void RunWatch::add_place(Families& families, const Labels& run) const {
  if (place_->limit > 0) {
    families.add(kLimit, run, static_cast<double>(place_->limit));
    families.add(kUsed, run, static_cast<double>(place_->used));
  }
  if (place_->pressure_some) families.add(kPressure, run, *place_->pressure_some / 100);
  const fact::GroupMemory& group = place_->group;
  families.add(kGroupUsage, run, group.usage);
  for (const auto& [name, bytes] :
       {std::pair("anon", group.anon), std::pair("shmem", group.shmem),
        std::pair("cache", group.cache), std::pair("kernel", group.kernel)})
    families.add(kGroupMemory, {run[0], {"part", name}}, bytes);
}

void RunWatch::add_devices(Families& families, const Labels& run, double since) const {
  for (const record::DeviceSample& device : devices_) {
    if (device.seconds < since) continue;
    const fact::CardMemory& memory = device.card.memory;
    const Label number{"device", std::to_string(device.card.index)};
    if (!device.process) {
      families.add(kDeviceTotal, {run[0], number}, static_cast<double>(memory.total));
      families.add(kDeviceUsed, {run[0], number},
                   static_cast<double>(memory.total - std::min(memory.free, memory.total)));
      continue;
    }
    const auto process = processes_.find(*device.process);
    if (process == processes_.end()) continue;
    const Label of{"process", std::to_string(process->second.number)};
    const auto add = [&](const char* part, std::optional<std::uint64_t> bytes) {
      families.add(kProcessDevice, {run[0], of, number, {"part", part}}, bytes);
    };
    // What was freed and waits for another stream is neither live nor to be had.
    const std::uint64_t in_use = memory.reserved - std::min(memory.cached, memory.reserved);
    add("live", memory.live.value_or(in_use));
    if (memory.live) add("pending", in_use - std::min(*memory.live, in_use));
    add("inactive", memory.inactive);
    add("free", memory.cached - std::min(memory.inactive.value_or(0), memory.cached));
  }
}

void RunWatch::add_process(Families& families, const Labels& labels, const ProcessNow& process,
                           double seconds) const {
  families.add(kProcess,
               {labels[0],
                labels[1],
                {"allocator", process.about.allocator},
                {"agent", process.about.agent ? "true" : "false"}},
               1);
  families.add(kResident, labels, mean_of(process.last.rss));
  families.add(kSwapped, labels, mean_of(process.last.swap));
  families.add(kPeak, labels, process.about.peak_rss);
  families.add(kProportional, labels, process.proportional);
  if (seconds - process.ledger_seconds < kStaleLedgerSeconds) {
    for (const fact::Ledger::Part& part : process.ledger.parts())
      families.add(kMemory, {labels[0], labels[1], {"part", part.name}}, part.bytes);
  }
  families.add(kCpu, labels, process.last.cpu_seconds);
  families.add(kFaults, labels, static_cast<double>(process.last.minor_faults));
  families.add(kCleanups, labels, static_cast<double>(process.cleanups.count));
  families.add(kReturned, labels, static_cast<double>(process.cleanups.returned));
  families.add(kCleanupSeconds, labels, process.cleanups.cost_seconds);
  const auto judged = judged_.find(process.about.key());
  if (judged == judged_.end()) return;
  families.add(kGrowth, labels, judged->second.growth);
  families.add(kUntilLimit, labels, judged->second.until_limit);
  families.add_state(kVerdict, labels, verdict_names(), fact::name_of(judged->second.verdict));
}

}  // namespace ebb::metrics
