// SPDX-License-Identifier: Apache-2.0
// The processes of the job and the agents in them.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "run/supervisor.h"
#include "sense/process_tree.h"

namespace ebb::run {
namespace {

// An agent's reading walks the heap under its locks: at most this share of the job's time.
constexpr double kShareForReading = 1.0 / 1000;
// Looking for processes reads a file for each one on the machine. Those with an agent say hello
// themselves: the others may wait for so many intervals.
constexpr double kScanEvery = 5;
constexpr double kPssEverySeconds = 60;

}  // namespace

void Supervisor::scan(double seconds) {
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  for (const pid_t pid : sense::descendants_of(::getpid()).value_or({}))
    find_or_add(pid, seconds);
  const double cost = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  next_scan_ = seconds + kScanEvery * pause_after(cost);
}

Member* Supervisor::find_or_add(pid_t pid, double seconds) {
  auto reading = sense::read_process(pid);
  if (!reading || reading->virtual_size == 0) return nullptr;
  const auto known = members_.find(pid);
  if (known != members_.end()) {
    if (known->second.about.start == reading->start_ticks) return &known->second;
    forget(pid, seconds);  // the number was given to another process
  }
  Member member;
  member.about.pid = pid;
  member.about.start = reading->start_ticks;
  member.about.parent = reading->parent;
  member.about.command = command_of(pid);
  member.about.seconds = seconds;
  member.reading = *std::move(reading);
  journal_.add(member.about);
  return &members_.insert_or_assign(pid, std::move(member)).first->second;
}

void Supervisor::forget(pid_t pid, double seconds) {
  const auto member = members_.find(pid);
  if (member == members_.end()) return;
  hear(member->second);  // what its agent said last is still in the socket
  journal_.process_ended(member->second.key(), seconds);
  members_.erase(member);
}

bool Supervisor::look_at(Member& member, double seconds) {
  auto reading = sense::read_process(member.about.pid);
  if (!reading || reading->start_ticks != member.about.start) return false;
  // While a process ends, its memory goes first: that is no reading of its work.
  if (reading->virtual_size == 0) return true;
  member.reading = *std::move(reading);
  record::Sample sample;
  sample.process = member.key();
  sample.seconds = seconds;
  sample.rss = member.reading.rss;
  sample.anon = member.reading.anon;
  sample.file = member.reading.file;
  sample.shmem = member.reading.shmem;
  sample.swap = member.reading.swap;
  sample.minor_faults = member.reading.minor_faults;
  sample.cpu_seconds = member.reading.cpu_seconds;
  sample.pss = std::exchange(member.pss, std::nullopt);
  if (member.unsaved) {
    if ((member.unsaved->known & wire::kKnowsLive) != 0) sample.live = member.unsaved->live;
    if ((member.unsaved->known & wire::kKnowsRetained) != 0)
      sample.retained = member.unsaved->retained;
    member.unsaved.reset();
  }
  journal_.add(sample);
  if (member.channel && member.is_controllable) {
    ask_cleanup(member, member.policy.sampled(member.age(seconds), member.reading.rss, {}));
  }
  return true;
}

void Supervisor::measure_pss(double seconds) {
  if (members_.size() < 2) return;  // nobody to share with
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  for (auto& [pid, member] : members_) {
    const auto exact = sense::read_process_exact(pid);
    if (!exact || exact->start_ticks != member.about.start) continue;
    member.pss = exact->pss;
  }
  const double cost = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  next_pss_ = seconds + std::max(kPssEverySeconds, pause_after(cost));
}

void Supervisor::accept_agents() {
  while (auto channel = listener_.accept())
    strangers_.push_back(*std::move(channel));
  std::vector<wire::Channel> waiting;
  for (wire::Channel& stranger : strangers_) {
    const auto said = stranger.receive();
    if (said && !*said) {
      waiting.push_back(std::move(stranger));
      continue;
    }
    const auto peer = wire::peer_of(stranger);
    if (!said || !peer) continue;
    const auto* hello = std::get_if<wire::Hello>(&**said);
    const double seconds = now();
    if (std::holds_alternative<wire::Left>(**said)) note_left(peer->pid, seconds);
    Member* member = hello != nullptr ? find_or_add(peer->pid, seconds) : nullptr;
    if (member == nullptr) continue;
    // After exec the same process is another program, with an allocator of its own.
    member->about.command = command_of(peer->pid);
    member->about.allocator = hello->allocator.view();
    member->about.agent = true;
    member->is_controllable = hello->controllable != 0;
    member->policy = {};
    member->agent_since = seconds;
    member->next_read = seconds;
    member->is_read = false;
    member->channel.emplace(std::move(stranger));
    journal_.add(member->about);
  }
  strangers_ = std::move(waiting);
}

void Supervisor::note_left(pid_t pid, double seconds) {
  const Member* member = find_or_add(pid, seconds);
  if (member == nullptr) return;
  const std::string line = "process " + std::to_string(pid) +
                           " runs without Ebb: it was forked while a lock of Ebb's was held";
  journal_.add(record::Event{seconds, "agent", line, member->key()});
  // A pool may start many.
  if (!std::exchange(told_left_, true)) journal_.note(line);
}

void Supervisor::hear(Member& member) {
  while (member.channel) {
    const auto message = member.channel->receive();
    if (message && !*message) return;
    if (!message) return drop(member);
    handle(member, **message, now());
  }
}

void Supervisor::handle(Member& member, const wire::Message& message, double seconds) {
  if (const auto* reading = std::get_if<wire::Reading>(&message)) {
    member.is_read = false;
    member.unsaved = *reading;
    member.next_read = seconds + std::max(interval(), reading->cost_seconds / kShareForReading);
    const bool told = (reading->known & wire::kKnowsRetained) != 0;
    if (!told) member.policy.tells_nothing();
    if (told && member.is_controllable) {
      ask_cleanup(member,
                  member.policy.sampled(member.age(seconds), reading->rss, reading->retained));
    }
  } else if (const auto* round = std::get_if<wire::Round>(&message)) {
    journal_.add(record::Round{member.key(), seconds, round->number});
    const auto rss = sense::read_rss_fast(member.about.pid);
    if (rss && member.is_controllable)
      ask_cleanup(member, member.policy.round_done(member.age(seconds), *rss));
  } else if (const auto* done = std::get_if<wire::Cleaned>(&message)) {
    member.policy.cleaned(member.age(seconds), *done);
    member.is_cleaning = false;
    if (done->reason == wire::Reason::critical) squeezed_since_ = true;
    ++summary_.cleanups;
    summary_.returned += done->returned;
    summary_.cleanup_seconds += done->cost_seconds;
    record::Action action;
    action.process = member.key();
    action.seconds = seconds;
    action.what = "cleanup";
    action.reason = wire::name_of(done->reason);
    action.rss_before = done->rss_before;
    action.rss_after = done->rss_after;
    action.returned = done->returned;
    if (const auto after = sense::read_process(member.about.pid)) action.anon_after = after->anon;
    if ((done->known & wire::kKnowsLive) != 0) action.live_after = done->live_after;
    if ((done->known & wire::kKnowsRetained) != 0) action.retained_after = done->retained_after;
    action.cost_seconds = done->cost_seconds;
    action.deep = done->deep != 0;
    journal_.add(action);
  }
}

void Supervisor::ask_reading(Member& member, double seconds) {
  // Half an interval early rather than a whole one late.
  if (!member.channel || member.is_read || seconds + interval() / 2 < member.next_read) return;
  wire::Read ask;
  ask.pressure = level_ == sense::MemoryLevel::critical ? 1 : 0;
  member.is_read = static_cast<bool>(member.channel->send(ask));
}

void Supervisor::ask_cleanup(Member& member, std::optional<wire::Reason> reason) {
  if (!reason) return;
  const bool critical = *reason == wire::Reason::critical;
  const bool at_round = *reason == wire::Reason::round;
  wire::Clean ask;
  ask.reason = *reason;
  ask.collect = critical || at_round ? 1 : 0;
  const bool device = options_.role && keep::defaults_of(*options_.role).cuda_empty_cache;
  ask.device_caches = critical || (at_round && device) ? 1 : 0;
  ask.pressure = level_ == sense::MemoryLevel::critical ? 1 : 0;
  member.is_cleaning = static_cast<bool>(member.channel->send(ask));
  if (!member.is_cleaning) member.policy.forget_question();
}

void Supervisor::drop(Member& member) {
  member.channel.reset();
  member.policy.forget_question();
  member.is_read = false;
  member.is_cleaning = false;
}

}  // namespace ebb::run
