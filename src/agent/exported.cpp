// SPDX-License-Identifier: Apache-2.0
#include "agent/exported.h"

#include <errno.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

#include "agent/agent.h"
#include "agent/python_arenas.h"
#include "agent/python_host.h"
#include "base/own_thread.h"
#include "base/truth_word.h"

#define EBB_EXPORT __attribute__((visibility("default")))

namespace {

using ebb::agent::Agent;

/// Null where this process is not managed. Never destroyed: its thread outlives every destructor.
Agent* the_agent = nullptr;

/// Libraries that the program is linked with are ready before preloaded ones: libebb may come
/// first.
Agent::Delegate early_cleaner = nullptr;

/// Programs that change the user and then exec. They change one thread's capabilities and all
/// threads' users, which the C library ends a process with two threads for. What they start has an
/// agent of its own.
bool only_changes_user() {
  constexpr const char* kNames[] = {"setpriv", "capsh", "gosu", "su-exec", "runuser", "su"};
  return std::any_of(std::begin(kNames), std::end(kNames), [](const char* name) {
    return std::strcmp(program_invocation_short_name, name) == 0;
  });
}

[[gnu::constructor]] void begin() {
  if (only_changes_user()) return;
  const char* socket = std::getenv("EBB_SOCKET");
  if (socket == nullptr || socket[0] != '/' || getauxval(AT_SECURE) != 0) return;
  try {
    if (ebb::base::disables(std::getenv("EBB_DISABLE"))) return;
    the_agent = new Agent(socket);
    ebb::agent::show_hook_to_python();
    if (early_cleaner != nullptr) the_agent->set_cleaner(early_cleaner);
    ebb::base::when_fork_lost([] {
      if (the_agent != nullptr) the_agent->start();
    });
    the_agent->start();
  } catch (const std::bad_alloc&) {
    the_agent = nullptr;
  }
}

/// For calls out of the job, which cannot catch what is thrown here: it is told nothing instead.
template <class Act>
void quietly(const Act& act) noexcept {
  try {
    act();
  } catch (...) {
    // Out of memory: the job is about to learn it by itself.
  }
}

void tell(const ebb::wire::Message& message) {
  if (the_agent != nullptr) quietly([&] { the_agent->tell(message); });
}

}  // namespace

EBB_EXPORT int ebb_agent_is_supervised() {
  return the_agent != nullptr && the_agent->is_supervised() ? 1 : 0;
}

EBB_EXPORT void ebb_agent_round_done(std::uint64_t number) {
  tell(ebb::wire::Round{number});
}

EBB_EXPORT void ebb_agent_name(const char* name) {
  tell(ebb::wire::Name{ebb::wire::Text<48>(name)});
}

EBB_EXPORT void ebb_agent_marked(const char* line) {
  tell(ebb::wire::Marker{ebb::wire::Text<240>(line)});
}

EBB_EXPORT void ebb_agent_cleaned(const void* cleaned) {
  ebb::wire::CleanupRecord record;
  std::memcpy(&record, cleaned, sizeof record);
  quietly([&] {
    if (const auto done = ebb::wire::fact_of(record)) tell(*done);
  });
}

EBB_EXPORT void ebb_agent_set_cleaner(void (*clean)(const void* ask, void* cleaned)) {
  if (the_agent != nullptr) {
    the_agent->set_cleaner(clean);
  } else {
    early_cleaner = clean;
  }
}

EBB_EXPORT int ebb_agent_begin_collections() {
  auto* collector = the_agent != nullptr ? the_agent->collector() : nullptr;
  return collector != nullptr && collector->claim() ? 1 : 0;
}

EBB_EXPORT std::uint32_t ebb_agent_await_collection() {
  auto* collector = the_agent != nullptr ? the_agent->collector() : nullptr;
  return collector != nullptr ? collector->await() : 0;
}

EBB_EXPORT void ebb_agent_collected() {
  auto* collector = the_agent != nullptr ? the_agent->collector() : nullptr;
  if (collector != nullptr) collector->collected();
}

EBB_EXPORT void ebb_agent_device(std::uint32_t device, std::uint64_t before, std::uint64_t after) {
  auto* collector = the_agent != nullptr ? the_agent->collector() : nullptr;
  if (collector == nullptr) return;
  quietly([&] { collector->changed(ebb::base::DeviceChange::between(device, before, after)); });
}

EBB_EXPORT void ebb_agent_device_memory(std::uint32_t device, std::uint64_t total,
                                        std::uint64_t free, std::uint64_t reserved,
                                        std::uint64_t cached, std::uint64_t live,
                                        std::uint64_t inactive) {
  auto* collector = the_agent != nullptr ? the_agent->collector() : nullptr;
  if (collector == nullptr) return;
  ebb::fact::CardMemory memory{total, free, reserved, cached};
  if (live <= reserved - cached) memory.live = live;
  if (inactive <= cached) memory.inactive = inactive;
  quietly([&] { collector->saw({device, memory}); });
}

EBB_EXPORT void ebb_agent_end_collections() {
  auto* collector = the_agent != nullptr ? the_agent->collector() : nullptr;
  if (collector != nullptr) collector->close();
}

EBB_EXPORT int ebb_agent_share_arenas() {
  int shared = 0;
  if (the_agent != nullptr) quietly([&] { shared = the_agent->share_arenas() ? 1 : 0; });
  return shared;
}

EBB_EXPORT int ebb_agent_count_arenas() {
  return the_agent != nullptr && ebb::agent::count_python_arenas() ? 1 : 0;
}

EBB_EXPORT void ebb_agent_count_thread(int by) {
  ebb::base::count_own_thread(by);
}

EBB_EXPORT void ebb_agent_leave() {
  if (the_agent != nullptr) the_agent->leave();
}
