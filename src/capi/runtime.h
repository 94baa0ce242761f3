// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "base/fork.h"
#include "base/reclaimer.h"
#include "base/result.h"
#include "capi/cpu_use.h"
#include "ebb/ebb.h"
#include "keep/cleanup.h"
#include "keep/guard.h"
#include "keep/settings.h"

// capi: the stable C ABI. The one place with a process-wide instance.

namespace ebb::capi {

/// What this process shares: made with the library, never destroyed, whole again in a forked child
/// (base/fork.h); in one that is lost, disabled.
struct Runtime {
  Runtime();

  base::Result<keep::Settings> settings;
  base::ReclaimerRegistry reclaimers;
  keep::Cleaner cleaner;
  keep::Guard guard;
  CpuUse cpu;
  std::atomic<bool> at_once = false;  ///< asked for by ebb_give_back_at_once

  /// Switched off by EBB_DISABLE, or by a fork at a bad moment.
  bool disabled() const { return (settings && settings->disabled) || base::fork_lost(); }
};

Runtime& runtime();

/// Remembers why the calling thread's call failed, and gives the code to return.
int fail(const base::Error& error);

/// Gives the caller a copy of `text` to be freed with ebb_free; the code to return.
int store_text(const std::string& text, char** into);

/// The code to return for the exception that is being handled: EBB_INTERNAL or EBB_OUT_OF_MEMORY.
int fail_with_exception() noexcept;

/// Runs `body`, which returns an ebb_code, and turns whatever it throws into a code.
template <class Body>
int guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (...) {
    return fail_with_exception();
  }
}

/// Writes as much of a report as the caller's struct has room for. Null is allowed.
/// Code::bad_input where struct_size is not set.
base::Status store(const keep::CleanupReport& report, ebb_cleanup_report* into);

/// The report of a cleanup that did not happen.
base::Status store_nothing(bool disabled, ebb_cleanup_report* into);

}  // namespace ebb::capi
