// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "agent/python_arenas.h"
#include "agent/python_host.h"
#include "base/clock.h"
#include "base/own_thread.h"
#include "base/signals_blocked.h"
#include "heap/host_allocator.h"
#include "sense/process.h"

namespace ebb::agent {
namespace {

// A command that is over sooner (a shell's `test`, a child that only calls exec) is not worth a
// connection.
constexpr timespec kShortLived{0, 200'000'000};
constexpr std::size_t kStackBytes = 512 << 10;
// A daemon closes all descriptors once or twice while it starts; one that goes on is left alone.
constexpr int kConnections = 4;
// Until it is connected, and little enough for the socket to take it all at once.
constexpr std::size_t kEarlyMessages = 128;
// The first may come while the interpreter imports what the hook needs.
constexpr int kHookAttempts = 3;

/// Somebody has said how many arenas there may be.
bool arenas_are_chosen() {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  return std::getenv("MALLOC_ARENA_MAX") != nullptr ||
         (tunables != nullptr && std::strstr(tunables, "malloc.arena_max=") != nullptr);
}

/// CUDA's driver is in this process: asking the job's language about cards is worth its time.
bool uses_cuda() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver != nullptr) ::dlclose(driver);
  return driver != nullptr;
}

wire::Hello hello_of_this_process() {
  heap::HostAllocator& allocator = heap::host_allocator();
  wire::Hello hello;
  hello.allocator = wire::Text<16>(heap::name_of(allocator.kind()));
  hello.allocator_version = wire::Text<48>(allocator.version());
  hello.controllable = allocator.controllable() ? 1 : 0;
  hello.program = wire::Text<48>(program_invocation_short_name);
  if (const auto self = sense::read_process()) {
    hello.parent = self->parent;
    hello.start = self->start_ticks;
  }
  return hello;
}

}  // namespace

Agent::Agent(std::string socket) : socket_(std::move(socket)) {}

void Agent::start() {
  first_thread_.begin();
  const base::SignalsBlocked blocked;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  static_cast<void>(pthread_create(&thread, &attributes, &Agent::thread_main, this));
  pthread_attr_destroy(&attributes);
}

void* Agent::thread_main(void* self) {
  prctl(PR_SET_NAME, "ebb-agent");
  const base::OwnThread own;
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
  const wire::Hello hello = hello_of_this_process();
  for (int attempt = 0; attempt < kConnections && connect(hello, true); ++attempt) {
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
      if (has_left() || first_thread_.has_ended_unseen()) {
        attempt = kConnections;
        break;
      }
    }
    disconnect();
  }
  forget_early();
  set_pressure(false);
}

void Agent::say_left() const {
  const auto channel = wire::connect(socket_);
  if (channel) static_cast<void>(channel->send(wire::Left{}));
}

bool Agent::connect(const wire::Hello& hello, bool wait) {
  {
    base::Lock lock(mutex_);
    if (channel_) return true;
  }
  auto channel = wire::connect(socket_, wait);
  if (!channel) return false;
  // Before the job can say anything: who does not begin with a hello is turned away.
  base::Lock lock(mutex_);
  if (channel_) return true;  // another thread was faster
  if (!channel->send(hello)) return false;
  for (const wire::Message& message : early_)
    static_cast<void>(channel->send(message));
  channel_.emplace(*std::move(channel));
  may_connect_ = false;
  early_.clear();
  return true;
}

void Agent::forget_early() {
  base::Lock lock(mutex_);
  may_connect_ = false;
  early_.clear();
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
  {
    base::Lock lock(mutex_);
    if (channel_ && channel_->is_ours()) {
      static_cast<void>(channel_->send(message));
      return;
    }
    if (!may_connect_ || early_.size() >= kEarlyMessages) return;
    try {
      early_.push_back(message);
    } catch (const std::bad_alloc&) {
      return;  // the job is about to learn it by itself
    }
    if (std::exchange(has_tried_, true)) return;
  }
  connect(hello_of_this_process(), false);
}

void Agent::set_cleaner(Delegate delegate) {
  Delegate none = nullptr;
  delegate_.compare_exchange_strong(none, delegate);
}

bool Agent::share_arenas() {
  if (has_left() || arenas_are_chosen()) return false;
  shares_arenas_ = heap::host_allocator().share_arenas();
  return shares_arenas_;
}

void Agent::answer(const wire::Message& message) {
  if (const auto* ask = std::get_if<wire::Read>(&message)) {
    set_pressure(ask->pressure != 0);
    see_to_hook();
    wire::Reading reading = read();
    // Done once, and no part of what a reading costs again and again.
    if (keep::is_worth_looking_beside(reading.memory)) beside().look();
    const std::int64_t start = base::thread_cpu_clock().now_ns();
    tell_beside();
    reading.cost_seconds += base::seconds_between(start, base::thread_cpu_clock().now_ns());
    tell(reading);
  } else if (std::holds_alternative<wire::ReadCards>(message)) {
    tell(read_cards());
  } else if (const auto* wanted = std::get_if<wire::Clean>(&message)) {
    set_pressure(wanted->pressure != 0);
    if (wanted->trigger == fact::Trigger::card) return tell(empty_device_caches());
    const fact::Cleanup done = clean(*wanted);
    tell_beside();
    tell(done);
  }
}

void Agent::see_to_hook() {
  if (collector_.is_claimed() || hook_asked_ >= kHookAttempts) return;
  if (ask_python_to_start_hook()) ++hook_asked_;
}

wire::Reading Agent::read() {
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  wire::Reading reading;
  reading.memory = keep::sample_of(heap::host_allocator(), sense::rss_now);
  if (python_runs()) {
    reading.language =
        collector_.is_claimed() ? wire::Language::python : wire::Language::python_without_hook;
  }
  reading.python_arenas = python_arenas();
  reading.shares_arenas = shares_arenas_;
  reading.uses_cuda = collector_.is_claimed() && uses_cuda();
  reading.cost_seconds = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  return reading;
}

fact::Cleanup Agent::clean(const wire::Clean& ask) {
  const std::optional<std::uint64_t> before = sense::rss_now();
  std::uint32_t wanted = 0;
  if (ask.collect != 0) wanted |= Collector::kGarbage;
  if (ask.device_caches != 0) wanted |= Collector::kDeviceCaches;
  const bool is_late = wanted != 0 && collector_.collect(wanted, Collector::kPatienceSeconds) ==
                                          Collector::Answer::late;
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  give_back_beside();
  fact::Cleanup done = clean_here_or_there(ask);
  done.seconds = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  done.trigger = ask.trigger;
  done.missed_garbage = is_late && ask.collect != 0;
  done.before.rss = std::max(before, done.before.rss);
  done.count_returned();
  for (const base::DeviceChange& change : collector_.take_changes())
    done.add(change);
  return done;
}

fact::Cleanup Agent::clean_here_or_there(const wire::Clean& ask) {
  if (const Delegate delegate = delegate_.load()) {
    wire::CleanupRecord done;
    delegate(&ask, &done);
    return wire::fact_of(done).value_or({});
  }
  return cleaner()
      .clean({.cuda_empty_cache = ask.device_caches != 0,
              .hooks = ask.collect != 0,
              .beside = false})  // done already
      .measured;
}

void Agent::give_back_beside() {
  if (beside_ == nullptr) return;
  beside().look();
  beside().give_back(sense::rss_now);
  // Where a library offers nothing to call, its Python package may.
  if (beside().any_uncontrollable()) {
    const std::optional<std::uint64_t> before = sense::rss_now();
    if (collector_.collect(Collector::kLibraryPools, Collector::kPatienceSeconds) ==
        Collector::Answer::collected)
      beside().count_uncontrollable(before, sense::rss_now());
  }
}

void Agent::tell_beside() {
  if (beside_ == nullptr) return;
  std::vector<fact::PrivateAllocator> now = beside().read();
  if (told_ == nullptr) told_ = new std::vector<fact::PrivateAllocator>;
  for (const fact::PrivateAllocator& one : now)
    if (std::find(told_->begin(), told_->end(), one) == told_->end()) tell(one);
  *told_ = std::move(now);
}

heap::PrivateAllocators& Agent::beside() {
  if (beside_ == nullptr) beside_ = new heap::PrivateAllocators;
  return *beside_;
}

keep::Cleaner& Agent::cleaner() {
  return base::made_once(cleaner_, [this] {
    return new keep::Cleaner(heap::host_allocator(), reclaimers_, sense::rss_now);
  });
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
  agent->early_.clear();
  agent->may_connect_ = true;
  agent->has_tried_ = false;
  agent->hook_asked_ = 0;
  // The parent's thread may have been in the middle of them.
  agent->beside_ = nullptr;
  agent->told_ = nullptr;
  agent->start();
}

}  // namespace ebb::agent
