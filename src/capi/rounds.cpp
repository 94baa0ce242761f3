// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "capi/agent_link.h"
#include "capi/runtime.h"
#include "keep/pressure_watch.h"
#include "keep/round_keeper.h"
#include "keep/rss_marker.h"

using namespace ebb;
using capi::fail;
using capi::guarded;
using capi::runtime;

struct ebb_keeper {
  std::unique_ptr<keep::RoundKeeper> keeper;
  std::atomic<std::uint64_t> announced{0};  // rounds without a number of their own
};

namespace {

/// Null: what the environment says that this process is.
base::Result<keep::Role> role_from(const char* name) {
  if (name != nullptr) return keep::role_from(name);
  if (!runtime().settings) return runtime().settings.error();
  return runtime().settings->own_role();
}

base::Result<keep::RoundSchedule> schedule_from(const ebb_keeper_options& options,
                                                keep::Role role) {
  const base::Result<keep::Settings>& settings = runtime().settings;
  if (!settings) return settings.error();
  keep::RoundSchedule schedule = keep::schedule_for(role, *settings);
  if (options.rounds == EBB_ROUNDS_EVERY) {
    schedule.automatic = false;
    schedule.every = options.every;
  } else if (options.rounds == EBB_ROUNDS_AUTO) {
    schedule.automatic = true;
  } else if (options.rounds != EBB_ROUNDS_DEFAULT) {
    return base::error(base::Code::bad_input, "rounds %d: expected EBB_ROUNDS_…", options.rounds);
  }
  if (options.cuda_empty_cache >= 0) schedule.cuda_empty_cache = options.cuda_empty_cache != 0;
  return schedule;
}

int report_round(const std::optional<keep::CleanupReport>& report, int* cleaned,
                 ebb_cleanup_report* into) {
  if (cleaned != nullptr) *cleaned = report ? 1 : 0;
  const base::Status stored =
      report ? capi::store(*report, into) : capi::store_nothing(runtime().disabled(), into);
  return stored ? static_cast<int>(EBB_OK) : fail(stored.error());
}

bool wants_markers(keep::Role role) {
  const base::Result<keep::Settings>& settings = runtime().settings;
  return settings && !runtime().disabled() && keep::wants_memory_profile(role, *settings);
}

int write_marker(const char* source, const char* site, const char* task, std::uint64_t round,
                 const char* tag, char* text, std::size_t size) {
  if (source == nullptr || site == nullptr || tag == nullptr || text == nullptr)
    return fail(base::error(base::Code::bad_input, "source, site, tag and text must not be null"));
  const base::Result<keep::MarkerSource> from = keep::marker_source_from(source);
  if (!from) return fail(from.error());
  const std::optional<std::uint64_t> number =
      round == EBB_NO_ROUND ? std::nullopt : std::optional(round);
  const std::string line = keep::rss_marker(
      *from, site, number, tag, runtime().cleaner.rss().value_or(0), task == nullptr ? "" : task);
  if (line.size() + 1 > size) {
    return fail(base::error(base::Code::bad_input, "the marker needs %zu bytes, got %zu",
                            line.size() + 1, size));
  }
  std::memcpy(text, line.c_str(), line.size() + 1);
  return EBB_OK;
}

/// The one watch of this process. A thread, so a forked child has none until it asks for one.
struct PressureSlot {
  keep::PressureWatch* watch EBB_GUARDED_BY(mutex) = nullptr;
  base::ForkMutex mutex{5, after_fork_in_child, this};

  static void after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
    auto* slot = static_cast<PressureSlot*>(self);
    if (slot->watch == nullptr) return;
    slot->watch->after_fork_in_child();
    delete std::exchange(slot->watch, nullptr);
  }
};

PressureSlot& pressure_slot() {
  static std::atomic<PressureSlot*> place;
  return base::made_once(place, [] { return new PressureSlot; });
}

}  // namespace

int ebb_keeper_create(const ebb_keeper_options* options, ebb_keeper** keeper) {
  return guarded([&] {
    if (options == nullptr || keeper == nullptr)
      return fail(base::error(base::Code::bad_input, "options and keeper must not be null"));
    if (options->struct_size < sizeof *options) {
      return fail(
          base::error(base::Code::bad_input,
                      "ebb_keeper_options.struct_size is %u: set it to sizeof(ebb_keeper_options)",
                      options->struct_size));
    }
    const base::Result<keep::Role> role = role_from(options->role);
    if (!role) return fail(role.error());
    const base::Result<keep::RoundSchedule> schedule = schedule_from(*options, *role);
    if (!schedule) return fail(schedule.error());
    auto made = keep::RoundKeeper::create(*role, *schedule, runtime().cleaner);
    if (!made) return fail(made.error());
    *keeper = new ebb_keeper{*std::move(made), {}};
    return static_cast<int>(EBB_OK);
  });
}

void ebb_keeper_destroy(ebb_keeper* keeper) {
  delete keeper;
}

int ebb_keeper_round_done(ebb_keeper* keeper, int* cleaned, ebb_cleanup_report* report) {
  return guarded([&] {
    if (keeper == nullptr) return fail(base::error(base::Code::bad_input, "keeper is null"));
    if (runtime().disabled()) return report_round(std::nullopt, cleaned, report);
    const auto done = keeper->keeper->round_done();
    capi::announce_round(keeper->announced++);
    return report_round(done, cleaned, report);
  });
}

int ebb_keeper_numbered_round_done(ebb_keeper* keeper, uint64_t round, int* cleaned,
                                   ebb_cleanup_report* report) {
  return guarded([&] {
    if (keeper == nullptr) return fail(base::error(base::Code::bad_input, "keeper is null"));
    if (runtime().disabled()) return report_round(std::nullopt, cleaned, report);
    const auto done = keeper->keeper->round_done(round);
    capi::announce_round(round);
    return report_round(done, cleaned, report);
  });
}

void ebb_announce_round(uint64_t round) {
  guarded([&] {
    if (!runtime().disabled()) capi::announce_round(round);
    return EBB_OK;
  });
}

int ebb_is_supervised(void) {
  return capi::is_supervised() ? 1 : 0;
}

int ebb_rss_marker(const char* source, const char* site, const char* task, uint64_t round,
                   const char* tag, char* text, size_t size) {
  return guarded([&] { return write_marker(source, site, task, round, tag, text, size); });
}

int ebb_mark_rss(const char* role, const char* source, const char* site, const char* task,
                 uint64_t round, const char* tag, char* text, size_t size) {
  return guarded([&] {
    if (text == nullptr || size == 0)
      return fail(base::error(base::Code::bad_input, "text must have room"));
    text[0] = '\0';
    const base::Result<keep::Role> known = role_from(role);
    if (!known) return fail(known.error());
    if (!runtime().settings) return fail(runtime().settings.error());
    if (!wants_markers(*known)) return static_cast<int>(EBB_OK);
    const int written = write_marker(source, site, task, round, tag, text, size);
    if (written == EBB_OK) capi::announce_marker(text);
    return written;
  });
}

int ebb_memory_profile(void) {
  return ebb_memory_profile_of(nullptr);
}

int ebb_memory_profile_of(const char* role) {
  int wanted = 0;
  guarded([&] {
    const base::Result<keep::Role> known = role_from(role);
    if (!known) return fail(known.error());
    wanted = wants_markers(*known) ? 1 : 0;
    return static_cast<int>(EBB_OK);
  });
  return wanted;
}

int ebb_watch_pressure(int* watching) {
  return guarded([&] {
    if (watching != nullptr) *watching = 0;
    if (runtime().disabled()) return static_cast<int>(EBB_OK);
    PressureSlot& slot = pressure_slot();
    base::Lock lock(slot.mutex);
    if (slot.watch == nullptr) {
      auto started = keep::PressureWatch::start(keep::process_environment, [] {
        const keep::CleanupReport report = runtime().cleaner.clean({.cuda_empty_cache = true});
        base::log(base::LogLevel::info, "the system asked for memory: %s",
                  keep::summary_of(report).c_str());
      });
      if (!started) return fail(started.error());
      slot.watch = started->release();
    }
    if (watching != nullptr) *watching = slot.watch != nullptr ? 1 : 0;
    return static_cast<int>(EBB_OK);
  });
}
