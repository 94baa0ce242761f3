// SPDX-License-Identifier: Apache-2.0
// The processes of the job and the agents in them.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "run/samples.h"
#include "run/supervisor.h"
#include "sense/process_tree.h"

namespace ebb::run {
namespace {

// An agent's reading walks the heap under its locks: at most this share of the job's time.
constexpr double kShareForReading = 1.0 / 1000;
// Looking for processes reads a file for each one on the machine. Those with an agent say hello
// themselves: the others may wait for so many intervals.
constexpr double kScanEvery = 5;

/// Whether a cleanup at a round's end does, as suits the role.
bool empties_device_caches(const std::optional<keep::Role>& role) {
  return role && keep::defaults_of(*role).cuda_empty_cache;
}

/// Not while it ends, nor afterwards: then it has neither memory nor a command line.
bool is_at_work(pid_t pid) {
  const auto reading = sense::read_process(pid);
  return reading && reading->virtual_size > 0;
}

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
  const auto known = members_.find(pid);
  if (!reading || reading->virtual_size == 0)  // it has just ended, but may have left words unread
    return known != members_.end() ? &known->second : nullptr;
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
  member.next_mappings = MappingWatch::first(seconds);
  member.reading = *std::move(reading);
  journal_.add(member.about);
  deaths_.saw_process(pid);
  if (!members_.empty()) shares_.came(seconds);
  const auto parent = members_.find(member.about.parent);
  if (parent != members_.end()) parent->second.has_children = true;
  return &members_.insert_or_assign(pid, std::move(member)).first->second;
}

Member& Supervisor::add_ended(pid_t pid, const wire::Hello& hello, double seconds) {
  Member member;
  member.about.pid = pid;
  member.about.start = hello.start;
  member.about.parent = hello.parent;
  member.about.command = hello.program.view();
  member.about.seconds = seconds;
  return members_.insert_or_assign(pid, std::move(member)).first->second;
}

void Supervisor::forget(pid_t pid, double seconds) {
  const auto member = members_.find(pid);
  if (member == members_.end()) return;
  hear(member->second);  // what its agent said last is still in the socket
  if (sites_) sites_->ended(member->second.key(), seconds);
  journal_.process_ended(member->second.key(), seconds);
  members_.erase(member);
}

void Supervisor::note_last_peak(pid_t pid, std::uint64_t peak) {
  const auto member = members_.find(pid);
  if (member == members_.end() || member->second.has_children) return;
  // Before it became another program it was a copy of this one.
  const auto own = sense::read_process();
  if (!own || peak <= own->hwm.value_or(own->rss)) return;
  member->second.about.peak_rss = peak;
  journal_.add(member->second.about);
}

bool Supervisor::look_at(Member& member, double seconds) {
  auto reading = sense::read_process(member.about.pid);
  if (!reading || reading->start_ticks != member.about.start) return false;
  // While a process ends, its memory goes first: that is no reading of its work.
  if (reading->virtual_size == 0) return true;
  member.reading = *std::move(reading);
  if (member.about.pid == command_)
    deaths_.saw_address_space(member.reading.virtual_peak.value_or(member.reading.virtual_size));
  record::Sample sample = sample_of(member.reading, member.key(), seconds);
  const fact::ProcessSample rest = std::exchange(member.for_next_sample, {});
  sample.memory.pss = rest.pss;
  sample.memory.uss = rest.uss;
  sample.memory.shared = rest.shared;
  sample.memory.live = rest.live;
  sample.memory.retained = rest.retained;
  journal_.add(sample);
  if (member.channel && member.is_controllable) {
    fact::ProcessSample now;  // what the allocator said is known to the policy already
    now.rss = sample.memory.rss;
    ask_cleanup(member, member.policy.sampled(member.age(seconds), now));
    if (can_give_back_beside(member))
      ask_cleanup(member, member.policy.sampled_beside(member.age(seconds), sample.memory));
  }
  return true;
}

void Supervisor::accept_agents() {
  while (listener_) {
    auto channel = listener_->accept();
    if (!channel) break;
    strangers_.push_back(*std::move(channel));
  }
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
    if (hello == nullptr || peer->pid <= 0) continue;
    Member* member = find_or_add(peer->pid, seconds);
    if (member == nullptr) member = &add_ended(peer->pid, *hello, seconds);
    // After exec the same process is another program, with an allocator of its own.
    if (is_at_work(peer->pid)) member->about.command = command_of(peer->pid);
    member->about.allocator = hello->allocator.view();
    member->about.agent = true;
    member->is_controllable = hello->controllable != 0;
    member->python_arenas.reset();
    member->policy = {};
    member->agent_since = seconds;
    member->last_read = seconds - interval();
    member->next_read = seconds;
    member->awaits_reading = false;
    member->awaits_cleanup = false;
    member->cards = {};
    member->awaits_cards = false;
    member->awaits_emptying = false;
    member->answers = {};
    member->beside.clear();
    member->channel.emplace(std::move(stranger));
    journal_.add(member->about);
    hear(*member);
  }
  strangers_ = std::move(waiting);
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
    take(member, *reading, seconds);
  } else if (const auto* round = std::get_if<wire::Round>(&message)) {
    take(member, *round, seconds);
  } else if (const auto* name = std::get_if<wire::Name>(&message)) {
    take(member, *name, seconds);
  } else if (const auto* marker = std::get_if<wire::Marker>(&message)) {
    take(member, *marker, seconds);
  } else if (const auto* cleanup = std::get_if<fact::Cleanup>(&message)) {
    take(member, *cleanup, seconds);
  } else if (const auto* cards = std::get_if<wire::Cards>(&message)) {
    take(member, *cards, seconds);
  } else if (const auto* beside = std::get_if<fact::PrivateAllocator>(&message)) {
    take(member, *beside, seconds);
  }
}

void Supervisor::take(Member& member, const wire::Reading& reading, double seconds) {
  member.awaits_reading = false;
  heard_from(member, seconds);
  member.language = reading.language;
  member.python_arenas = reading.python_arenas;
  if (reading.shares_arenas) note_shared_arenas(member, seconds);
  if (reading.uses_cuda) sample_cards(member, seconds);
  member.for_next_sample.live = reading.memory.live;
  member.for_next_sample.retained = reading.memory.retained;
  member.last_read = seconds;
  member.next_read = seconds + reading.cost_seconds / kShareForReading;
  if (!reading.memory.retained) {
    member.policy.tells_nothing();
  } else if (member.is_controllable) {
    ask_cleanup(member, member.policy.sampled(member.age(seconds), reading.memory));
  }
}

void Supervisor::note_shared_arenas(const Member& member, double seconds) {
  if (std::exchange(arenas_noted_, true)) return;
  journal_.add(record::Event{seconds, "arenas",
                             "threads of processes that use NVFlare share malloc's arenas; "
                             "MALLOC_ARENA_MAX sets how many",
                             member.key()});
}

void Supervisor::take(const Member& member, const wire::Name& name, double seconds) {
  const auto parent = members_.find(member.about.parent);
  const bool is_fork =
      parent != members_.end() && parent->second.about.command == member.about.command;
  const std::string_view text = name.name.view();
  const bool reads_well = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isgraph(static_cast<unsigned char>(c)) != 0;
  });
  // The others' command lines tell them apart.
  if (is_fork && reads_well)
    journal_.add(
        record::Event{seconds, name_of(record::EventKind::named), std::string(text), member.key()});
}

void Supervisor::take(const Member& member, const wire::Marker& marker, double seconds) {
  std::string line(marker.line.view());
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  journal_.add(
      record::Event{seconds, name_of(record::EventKind::marker), std::move(line), member.key()});
}

void Supervisor::take(Member& member, const wire::Round& round, double seconds) {
  journal_.add(record::Round{member.key(), seconds, round.number});
  last_round_ = round.number;
  std::optional<fact::Trigger> trigger;
  const auto rss = sense::read_rss_fast(member.about.pid);
  if (rss && member.is_controllable) trigger = member.policy.round_done(member.age(seconds), *rss);
  // First: it takes less time, and the next round is about to begin. Not where that cleanup empties
  // the caches anyway.
  if (!trigger || !empties_device_caches(options_.role)) ask_cards(member, round.number, seconds);
  ask_cleanup(member, trigger);
}

void Supervisor::take(Member& member, fact::Cleanup cleanup, double seconds) {
  if (cleanup.trigger == fact::Trigger::card) return take_emptying(member, cleanup, seconds);
  if (const auto now = sense::read_process(member.about.pid)) cleanup.after.anon = now->anon;
  member.policy.cleaned(member.age(seconds), cleanup);
  // One that the job made by itself is no answer of the agent's.
  if (cleanup.trigger != fact::Trigger::job) {
    member.awaits_cleanup = false;
    heard_from(member, seconds);
  }
  if (cleanup.trigger == fact::Trigger::critical) squeezed_since_ = true;
  count(member, cleanup, seconds);
}

void Supervisor::ask_reading(Member& member, double seconds) {
  // Half an interval early rather than a whole one late; by the interval of now, which is shorter
  // near the limit than it was at the last one.
  const double due = std::max(member.next_read, member.last_read + interval());
  if (!member.channel || member.awaits_reading || seconds + interval() / 2 < due) return;
  wire::Read ask;
  ask.pressure = level_ == sense::MemoryLevel::critical ? 1 : 0;
  member.awaits_reading = static_cast<bool>(member.channel->send(ask));
  if (member.awaits_reading) member.answers.asked();
}

void Supervisor::ask_cleanup(Member& member, std::optional<fact::Trigger> trigger) {
  if (!trigger) return;
  const bool critical = *trigger == fact::Trigger::critical;
  const bool at_round = *trigger == fact::Trigger::round;
  wire::Clean ask;
  ask.trigger = *trigger;
  ask.collect = critical || at_round ? 1 : 0;
  ask.device_caches = critical || (at_round && empties_device_caches(options_.role)) ? 1 : 0;
  ask.pressure = level_ == sense::MemoryLevel::critical ? 1 : 0;
  member.awaits_cleanup = static_cast<bool>(member.channel->send(ask));
  if (!member.awaits_cleanup) return member.policy.forget_question();
  member.answers.asked();
}

void Supervisor::heard_from(Member& member, double seconds) {
  const bool owes = member.awaits_reading || member.awaits_cleanup || member.awaits_cards ||
                    member.awaits_emptying;
  if (member.answers.answered(owes) != AnswerWatch::Change::back) return;
  journal_.say({seconds, "agent",
                "the agent of process " + std::to_string(member.about.pid) + " answers again",
                member.key()});
}

void Supervisor::watch_silence(Member& member, double elapsed, double seconds) {
  if (!member.channel) return;
  const AnswerWatch::Change change = member.answers.passed(elapsed, member.reading.can_run());
  const std::string who = "the agent of process " + std::to_string(member.about.pid);
  if (change == AnswerWatch::Change::silent) {
    journal_.say({seconds, name_of(record::EventKind::silent),
                  who + " does not answer: what its heap holds is not known meanwhile",
                  member.key()});
  } else if (change == AnswerWatch::Change::lost) {
    journal_.say({seconds, name_of(record::EventKind::silent),
                  who + " has not answered for a minute and is left alone", member.key()});
    drop(member);
  }
}

void Supervisor::drop(Member& member) {
  member.channel.reset();
  member.python_arenas.reset();
  member.policy.forget_question();
  member.awaits_reading = false;
  member.awaits_cleanup = false;
  member.cards.left_alone();
  member.awaits_cards = false;
  member.awaits_emptying = false;
  member.answers = {};
}

}  // namespace ebb::run
