// SPDX-License-Identifier: Apache-2.0
#include "capi/agent_link.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "base/fork.h"
#include "base/own_thread.h"
#include "fact/cleanup.h"
#include "wire/message.h"

namespace ebb::capi {
namespace {

/// The agent's exported functions; all null without one.
struct Agent {
  int (*is_supervised)() = nullptr;
  void (*round_done)(std::uint64_t number) = nullptr;
  void (*cleaned)(const void* record) = nullptr;
  void (*marked)(const char* line) = nullptr;
  void (*set_cleaner)(void (*clean)(const void* ask, void* cleaned)) = nullptr;
  void (*count_thread)(int by) = nullptr;
  void (*leave)() = nullptr;
};

Agent agent;
keep::Cleaner* the_cleaner = nullptr;

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

/// Hooks of a Python process take its interpreter's lock. A thread that is not the interpreter's
/// own must not wait for that while the interpreter ends, and need not: the agent has had Python's
/// own thread collect before.
bool is_python() {
  static std::atomic<bool> is_known{false};
  static std::atomic<bool> is{false};
  if (!is_known) {
    const base::Lock lock(base::loader_calls());
    is = ::dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
    is_known = true;
  }
  return is;
}

void give(const fact::Cleanup& done, void* into) {
  const wire::CleanupRecord record = wire::record_of(done);
  std::memcpy(into, &record, sizeof record);
}

void announce_cleanup(const fact::Cleanup& done) {
  const wire::CleanupRecord record = wire::record_of(done);
  agent.cleaned(&record);
}

/// Called on the agent's thread. The agent itself reports what this returns.
void clean_for_agent(const void* ask, void* cleaned) {
  wire::Clean wanted;
  std::memcpy(&wanted, ask, sizeof wanted);
  if (base::fork_lost()) {
    fact::Cleanup nothing;
    nothing.before.rss = nothing.after.rss = the_cleaner->rss();
    return give(nothing, cleaned);
  }
  const keep::CleanupReport report =
      the_cleaner->clean({.cuda_empty_cache = wanted.device_caches != 0,
                          .hooks = wanted.collect != 0 && !is_python(),
                          .announce = false});
  give(report.measured, cleaned);
}

}  // namespace

void link_with_agent(keep::Cleaner& cleaner) {
  find(agent.is_supervised, "ebb_agent_is_supervised");
  find(agent.round_done, "ebb_agent_round_done");
  find(agent.cleaned, "ebb_agent_cleaned");
  find(agent.marked, "ebb_agent_marked");
  find(agent.set_cleaner, "ebb_agent_set_cleaner");
  find(agent.count_thread, "ebb_agent_count_thread");
  find(agent.leave, "ebb_agent_leave");
  the_cleaner = &cleaner;
  if (agent.cleaned != nullptr) cleaner.observe(announce_cleanup);
  if (agent.count_thread != nullptr) base::tell_of_own_threads(agent.count_thread);
  if (agent.set_cleaner != nullptr) agent.set_cleaner(clean_for_agent);
}

void announce_round(std::uint64_t number) {
  if (agent.round_done != nullptr) agent.round_done(number);
}

void announce_marker(const char* line) {
  if (agent.marked != nullptr) agent.marked(line);
}

bool is_supervised() {
  return agent.is_supervised != nullptr && agent.is_supervised() != 0;
}

void leave_agent() {
  if (agent.leave != nullptr) agent.leave();
}

}  // namespace ebb::capi
