// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "heap/host_allocator.h"
#include "sense/process.h"

namespace ebb::agent {
namespace {

// A command that is over sooner (a shell's `test`, a child that only calls exec) is not worth a
// connection.
constexpr timespec kShortLived{0, 200'000'000};
constexpr std::size_t kStackBytes = 512 << 10;
constexpr double kCollectSeconds = 10;
// A daemon closes all descriptors once or twice while it starts; one that goes on is left alone.
constexpr int kConnections = 4;

std::uint64_t rss_now() {
  return sense::read_rss_fast().value_or(0);
}

std::uint32_t known(const std::optional<std::uint64_t>& live,
                    const std::optional<std::uint64_t>& retained) {
  return (live ? wire::kKnowsLive : 0) | (retained ? wire::kKnowsRetained : 0);
}

}  // namespace

Agent::Agent(std::string socket) : socket_(std::move(socket)) {}

void Agent::start() {
  // Signals are the job's: none is ever delivered to this thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  static_cast<void>(pthread_create(&thread, &attributes, &Agent::thread_main, this));
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void* Agent::thread_main(void* self) {
  prctl(PR_SET_NAME, "ebb-agent");
  nanosleep(&kShortLived, nullptr);
  auto* agent = static_cast<Agent*>(self);
  try {
    if (!agent->has_left()) agent->serve();
    if (agent->has_left()) agent->say_left();
  } catch (...) {
    // Out of memory, most likely: the job must not be ended by its helper.
  }
  if (!base::fork_lost()) agent->collector_.close();
  return nullptr;
}

void Agent::serve() {
  heap::HostAllocator& allocator = heap::host_allocator();
  wire::Hello hello;
  hello.allocator = wire::Text<16>(heap::name_of(allocator.kind()));
  hello.allocator_version = wire::Text<48>(allocator.version());
  hello.controllable = allocator.controllable() ? 1 : 0;
  for (int attempt = 0; attempt < kConnections && connect(hello); ++attempt) {
    while (true) {
      int descriptor = -1;
      {
        base::Lock lock(mutex_);
        if (!channel_ || !channel_->is_ours()) break;
        descriptor = channel_->descriptor();
      }
      // Waits outside the lock. The socket stays what it is while this call waits on it, whatever
      // the job does to the descriptor.
      const auto message = wire::receive_from(descriptor);
      if (!message && message.error().code == base::Code::not_found) {
        base::Lock lock(mutex_);
        if (channel_ && channel_->is_ours()) attempt = kConnections;
        break;
      }
      if (message && *message) answer(**message);
      if (has_left()) {
        attempt = kConnections;
        break;
      }
    }
    disconnect();
  }
  set_pressure(false);
}

void Agent::say_left() const {
  const auto channel = wire::connect(socket_);
  if (channel) static_cast<void>(channel->send(wire::Left{}));
}

bool Agent::connect(const wire::Hello& hello) {
  auto channel = wire::connect(socket_);
  if (!channel) return false;
  // Before the job can say anything: who does not begin with a hello is turned away.
  base::Lock lock(mutex_);
  if (!channel->send(hello)) return false;
  channel_.emplace(*std::move(channel));
  return true;
}

void Agent::disconnect() {
  base::Lock lock(mutex_);
  if (!channel_) return;
  if (!channel_->is_ours()) channel_->abandon();
  channel_.reset();
}

bool Agent::is_supervised() const {
  if (has_left()) return false;
  base::Lock lock(mutex_);
  return channel_.has_value();
}

void Agent::tell(const wire::Message& message) {
  if (has_left()) return;
  base::Lock lock(mutex_);
  if (channel_ && channel_->is_ours()) static_cast<void>(channel_->send(message));
}

void Agent::set_cleaner(Delegate delegate) {
  Delegate none = nullptr;
  delegate_.compare_exchange_strong(none, delegate);
}

void Agent::answer(const wire::Message& message) {
  if (const auto* ask = std::get_if<wire::Read>(&message)) {
    set_pressure(ask->pressure != 0);
    tell(read());
  } else if (const auto* wanted = std::get_if<wire::Clean>(&message)) {
    set_pressure(wanted->pressure != 0);
    tell(clean(*wanted));
  }
}

wire::Reading Agent::read() {
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  const heap::HeapReading heap = heap::host_allocator().read();
  wire::Reading reading;
  reading.known = known(heap.live, heap.retained);
  reading.rss = rss_now();
  reading.live = heap.live.value_or(0);
  reading.retained = heap.retained.value_or(0);
  reading.cost_seconds = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  return reading;
}

wire::Cleaned Agent::clean(const wire::Clean& ask) {
  const std::uint64_t before = rss_now();
  std::uint32_t wanted = 0;
  if (ask.collect != 0) wanted |= Collector::kGarbage;
  if (ask.device_caches != 0) wanted |= Collector::kDeviceCaches;
  if (wanted != 0) collector_.collect(wanted, kCollectSeconds);
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  wire::Cleaned cleaned;
  if (const Delegate delegate = delegate_.load()) {
    delegate(&ask, &cleaned);
  } else {
    cleaned = clean_here(ask);
  }
  cleaned.cost_seconds = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  cleaned.reason = ask.reason;
  cleaned.rss_before = std::max(before, cleaned.rss_before);
  cleaned.returned = cleaned.rss_before - std::min(cleaned.rss_before, cleaned.rss_after);
  return cleaned;
}

wire::Cleaned Agent::clean_here(const wire::Clean& ask) {
  const keep::CleanupReport report =
      cleaner().clean({.cuda_empty_cache = ask.device_caches != 0, .hooks = ask.collect != 0});
  wire::Cleaned cleaned;
  cleaned.known = known(report.after.live, report.after.retained);
  cleaned.deep = report.depth == heap::Depth::deep ? 1 : 0;
  cleaned.rss_before = report.before.rss;
  cleaned.rss_after = report.after.rss;
  cleaned.live_after = report.after.live.value_or(0);
  cleaned.retained_after = report.after.retained.value_or(0);
  return cleaned;
}

keep::Cleaner& Agent::cleaner() {
  return base::made_once(
      cleaner_, [this] { return new keep::Cleaner(heap::host_allocator(), reclaimers_, rss_now); });
}

void Agent::set_pressure(bool on) {
  base::Lock lock(mutex_);
  if (on == under_pressure_) return;
  under_pressure_ = on;
  static_cast<void>(heap::host_allocator().set_pressure(on));
}

void Agent::after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
  auto* agent = static_cast<Agent*>(self);
  // The parent's connection is the parent's.
  if (agent->channel_ && !agent->channel_->is_ours()) agent->channel_->abandon();
  agent->channel_.reset();
  agent->start();
}

}  // namespace ebb::agent
