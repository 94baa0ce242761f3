// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "run/pace.h"
#include "run/process_signal.h"

namespace ebb::run {
Supervisor::Supervisor(const Options& options, const Preparation& preparation,
                       std::optional<wire::Listener> listener, Signals& signals, Journal& journal,
                       const base::Clock& clock)
    : options_(options),
      preparation_(preparation),
      listener_(std::move(listener)),
      signals_(signals),
      journal_(journal),
      clock_(clock),
      began_ns_(clock.now_ns()),
      place_(options.thresholds) {
  if (!preparation.sites.empty()) {
    const auto info = sense::memory_info();
    sites_.emplace(preparation.sites, options.interval_seconds, info ? info->limit : 0, journal);
  }
}

double Supervisor::now() const {
  return base::seconds_between(began_ns_, clock_.now_ns());
}

double Supervisor::interval() const {
  double wanted = options_.interval_seconds * std::max(1.0, tick_cost_ / kLookSeconds);
  if (level_ != sense::MemoryLevel::normal || stopped_at_) {
    const bool is_news =
        level_ == sense::MemoryLevel::critical && now() - news_since_ < kNewsSeconds;
    wanted = std::min(wanted, interval_near_limit(tick_cost_, is_news));
  }
  return std::min(wanted, early_interval(now(), tick_cost_));
}

double Supervisor::pause_after(double cost) const {
  return std::max(interval(), options_.interval_seconds * cost / kLookSeconds);
}

base::Result<Launched> Supervisor::start() {
  // Processes whose parents end stay below this one, so that they are still seen and reaped.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto launched = launch(options_.command, environment_with(preparation_.variables),
                         signals_.before(), options_.silent);
  if (launched && launched->trouble.empty()) {
    command_ = launched->pid;
    find_or_add(command_, now());
    place_.find(command_);
    deaths_.begin(command_, place_.group());
    note_missing_cards(now());
    if (options_.nvflare) {
      journal_.add(record::Event{now(), "nvflare",
                                 "--nvflare: NVFlare lets go of each result once it is processed",
                                 std::nullopt});
    }
  }
  return launched;
}

bool Supervisor::is_over() {
  if (!ending_) return false;
  if (stopped_at_) return is_stopped_for_good();
  if (!options_.wait_for_all) return true;
  if (members_.empty()) scan(now());  // what it left behind belongs to this process by now
  return members_.empty();
}

Summary Supervisor::run() {
  while (!is_over()) {
    if (shares_.is_due(now())) {
      measure_shares(now());
      next_tick_ = now();  // which takes it into a sample
    }
    if (now() >= next_tick_) tick();
    wait(std::min(next_tick_, shares_.next()));
  }
  const double end = now();
  summary_.ending = *ending_;
  summary_.seconds = end;
  std::vector<double> second_half;
  for (const trend::Point& point : together_.points())
    if (point.seconds >= end / 2) second_half.push_back(point.value);
  if (!second_half.empty())
    summary_.steady_rss = static_cast<std::uint64_t>(trend::median(second_half));
  summary_.peak_group = place_.peak();
  judge_ending(end);
  accept_agents();  // what a child said last may still be unread
  scan(end);
  summary_.left_running = left_in_the_end();
  for (const auto& [pid, member] : members_)
    if (sites_) sites_->ended(member.key(), end);
  return summary_;
}

void Supervisor::wait(double until) {
  std::vector<pollfd> sources = {{signals_.descriptor(), POLLIN, 0},
                                 {listener_ ? listener_->descriptor() : -1, POLLIN, 0},
                                 {place_.pressure_descriptor(), POLLPRI, 0}};
  const std::size_t fixed = sources.size();
  std::vector<pid_t> pids;
  for (const auto& [pid, member] : members_) {
    if (!member.channel) continue;
    sources.push_back({member.channel->descriptor(), POLLIN, 0});
    pids.push_back(pid);
  }
  for (const wire::Channel& stranger : strangers_)
    sources.push_back({stranger.descriptor(), POLLIN, 0});
  const std::size_t first_alarm = sources.size();
  if (now() >= alarm_rests_until_) {
    for (const pollfd& source : place_.alarm().sources())
      sources.push_back(source);
  } else {
    until = std::min(until, alarm_rests_until_);
  }
  const double left = std::clamp(until - now(), 0.0, 3600.0);
  const int ready =
      ::poll(sources.data(), sources.size(), static_cast<int>(std::ceil(left * 1000)));
  if (ready < 0 && errno != EINTR) {
    // Nothing can be waited for: a look now and then has to do.
    ::usleep(20'000);
    take_signals();
  }
  if (ready <= 0) return;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const auto member = members_.find(pids[i]);
    if (sources[fixed + i].revents != 0 && member != members_.end()) hear(member->second);
  }
  accept_agents();
  if ((sources[2].revents & POLLERR) != 0) {
    place_.forget_pressure();
  } else if (sources[2].revents != 0) {
    next_tick_ = now();
    if (level_ == sense::MemoryLevel::normal) squeeze(fact::Trigger::pressure, now());
  }
  if (std::any_of(sources.begin() + static_cast<std::ptrdiff_t>(first_alarm), sources.end(),
                  [](const pollfd& source) { return source.revents != 0; }))
    met_limit();
  if (sources[0].revents != 0) take_signals();
}

void Supervisor::met_limit() {
  place_.alarm().quiet();
  const double seconds = now();
  next_tick_ = seconds;
  news_since_ = seconds;
  // Where only cache is dropped, it is met again and again, and means nothing.
  alarm_rests_until_ =
      seconds +
      (level_ == sense::MemoryLevel::normal ? interval() : interval_near_limit(tick_cost_, true));
}

void Supervisor::take_signals() {
  bool has_continued = false;
  signals_.take([&](const Signal& signal) {
    if (asks_to_stop(signal.number)) is_asked_to_stop_ = true;
    if (signal.number == SIGCONT) is_asked_to_stop_ = false;
    deaths_.arrived(signal);
    // A SIGCONT that was passed on may have undone what the terminal asked of all a moment before.
    const bool is_undone = has_continued && asks_to_stop(signal.number);
    has_continued = has_continued || signal.number == SIGCONT;
    if (!signal.is_for_command && !is_undone) return;
    if (!ending_) return pass_on(signal, command_);
    for (const auto& [pid, member] : members_)
      send_signal(member.key(), signal.number);
  });
  reap();
  // As a shell expects of a job: a command that has its own way with Ctrl-Z is followed in it.
  if (is_asked_to_stop_ && (is_stopped_ || ending_)) {
    is_asked_to_stop_ = false;
    ::raise(SIGSTOP);
  }
}

/// A child that has ended, stopped or gone on; 0 none. It still has to be waited for.
static pid_t child_with_news() {
  siginfo_t about{};
  const int kinds = WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT;
  return ::waitid(P_ALL, 0, &about, kinds) == 0 ? about.si_pid : 0;
}

void Supervisor::reap() {
  int status = 0;
  pid_t pid = 0;
  rusage usage{};
  while ((pid = child_with_news()) > 0) {
    // What the kernel knows of it is gone once it is waited for.
    if (pid == command_) look_at_dead_command();
    if (::wait4(pid, &status, WNOHANG | WUNTRACED | WCONTINUED, &usage) != pid) break;
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      // Whoever sends SIGSTOP to the command continues the command alone.
      if (pid == command_) is_stopped_ = WIFSTOPPED(status) && asks_to_stop(WSTOPSIG(status));
      continue;
    }
    const double seconds = now();
    if (pid == command_) {
      ending_ = ending_of(status);
      is_asked_to_stop_ = false;
    }
    // The kernel's last word: its own peak, or that of a process it waited for.
    const auto peak = static_cast<std::uint64_t>(usage.ru_maxrss) * base::kKiB;
    summary_.peak_rss = std::max(summary_.peak_rss, peak);
    note_last_peak(pid, peak);
    accept_agents();  // one that was over in a moment has said all it had to say
    forget(pid, seconds);
  }
}

void Supervisor::tick() {
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  const double seconds = now();
  if (seconds >= next_scan_) scan(seconds);
  // No more than it should have been: where the machine slept, nobody could answer.
  const double elapsed = std::min(seconds - std::exchange(last_tick_, seconds), 2 * interval());
  // Before agents are asked anything: a thread that runs does not say where its stack is.
  read_mappings(seconds);
  std::uint64_t together = 0;
  std::vector<pid_t> gone;
  for (auto& [pid, member] : members_) {
    if (!look_at(member, seconds)) {
      gone.push_back(pid);
      continue;
    }
    together += member.reading.rss;
    summary_.peak_rss = std::max(summary_.peak_rss, member.reading.hwm.value_or(0));
    ask_reading(member, seconds);
    watch_silence(member, elapsed, seconds);
    watch_unmanaged(member, seconds);
  }
  for (const pid_t pid : gone)
    forget(pid, seconds);
  summary_.peak_rss = std::max(summary_.peak_rss, together);
  together_.add({seconds, static_cast<double>(together)});
  watch_sites(seconds);
  watch_level(seconds);
  go_on_stopping(seconds);
  journal_.check();
  tick_cost_ = (tick_cost_ + base::seconds_between(start, base::thread_cpu_clock().now_ns())) / 2;
  next_tick_ = seconds + interval();
}

void Supervisor::count(const Member& member, const fact::Cleanup& cleanup, double seconds) {
  ++summary_.cleanups;
  summary_.returned += cleanup.returned;
  summary_.cleanup_seconds += cleanup.seconds;
  for (const base::DeviceChange& change : cleanup.devices)
    fact::add_up(summary_.devices, change);
  journal_.add(record::Action{member.key(), seconds, cleanup});
}

/// Whether it gives its memory back, or has: what its group holds then is not what the job held.
static bool is_dying(pid_t pid) {
  const auto reading = sense::read_process(pid);
  return !reading || reading->virtual_size == 0;
}

void Supervisor::watch_level(double seconds) {
  const pid_t pid = ending_ ? ::getpid() : command_;
  const auto sample = place_.read(pid, seconds);
  if (!sample) return;  // it has just ended
  if (!ending_ && is_dying(command_)) {
    if (place_.saw_kill()) watch_kills(seconds);
    return;
  }
  if (place_.moves() != std::exchange(moves_, place_.moves())) deaths_.moved(*place_.group());
  journal_.add(*sample);
  watch_cards(seconds);
  if (place_.level() != sense::MemoryLevel::normal || place_.saw_kill()) watch_kills(seconds);
  const sense::MemoryLevel before = std::exchange(level_, place_.level());
  if (level_ != before) {
    if (level_ == sense::MemoryLevel::critical) news_since_ = seconds;
    const char* name = sense::name_of(level_);
    std::string line = "memory at " + place_.text();
    if (level_ == sense::MemoryLevel::critical) line += ": critical, cleaning up";
    if (level_ == sense::MemoryLevel::normal) line += ": normal again";
    journal_.say({seconds, name, line, {}});
  }
  if (level_ != sense::MemoryLevel::critical) {
    critical_since_.reset();
  } else {
    if (!critical_since_) {
      critical_since_ = seconds;
      squeezed_since_ = false;
    }
    squeeze(fact::Trigger::critical, seconds);
    if (options_.on_critical == OnCritical::stop) stop_job(seconds);
  }
}

void Supervisor::squeeze(fact::Trigger why, double seconds) {
  for (auto& [pid, member] : members_) {
    if (member.channel && member.is_controllable)
      ask_cleanup(member, member.policy.squeezed(member.age(seconds), why));
  }
}

}  // namespace ebb::run
