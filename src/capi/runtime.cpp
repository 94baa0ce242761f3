// SPDX-License-Identifier: Apache-2.0
#include "capi/runtime.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "base/fork.h"
#include "capi/agent_link.h"
#include "capi/cards.h"
#include "fact/cleanup.h"
#include "sense/process.h"

namespace ebb::capi {
namespace {

/// Through a descriptor that stays open: the library is asked often.
std::optional<std::uint64_t> metered_rss() {
  using Meter = base::Result<sense::RssMeter>;
  static constinit std::atomic<Meter*> place{nullptr};
  const Meter& meter =
      base::made_once(place, [] { return new Meter(sense::RssMeter::for_self()); });
  if (!meter) return std::nullopt;
  const base::Result<std::uint64_t> rss = meter->read();
  if (!rss) return std::nullopt;
  return *rss;
}

/// The calling thread's last error. A plain buffer: no destructor to run while a thread ends.
thread_local char last_error[2048] = "";

base::Status store_checked(const ebb_cleanup_report& whole, ebb_cleanup_report* into) {
  if (into == nullptr) return {};
  const std::uint32_t size = into->struct_size;
  if (size < 2 * sizeof(std::uint32_t)) {
    return base::error(base::Code::bad_input,
                       "ebb_cleanup_report.struct_size is %u: set it to sizeof(ebb_cleanup_report)",
                       size);
  }
  std::memcpy(into, &whole, std::min<std::size_t>(size, sizeof whole));
  into->struct_size = size;
  return {};
}

/// With the library, before there is a second thread of ours: a fork that fell into the first use
/// would leave the child with a runtime that is not linked with its agent.
[[gnu::constructor]] void make_runtime() {
  try {
    static_cast<void>(runtime());
    static_cast<void>(metered_rss());
  } catch (const std::bad_alloc&) {
    // The first use tries again, and can say so.
  }
}

std::uint32_t known(const fact::ProcessSample& sample) {
  return (sample.live ? EBB_KNOWS_LIVE : 0U) | (sample.retained ? EBB_KNOWS_RETAINED : 0U);
}

}  // namespace

Runtime::Runtime()
    : settings(keep::settings_from(keep::process_environment)),
      cleaner(heap::host_allocator(), reclaimers, metered_rss),
      guard(cleaner, cards_here) {}

Runtime& runtime() {
  static constinit std::atomic<Runtime*> place{nullptr};
  static constinit std::atomic<bool> is_linked{false};
  Runtime& made = base::made_once(place, [] { return new Runtime(); });
  if (made.disabled() || is_linked.load(std::memory_order_acquire) || is_linked.exchange(true))
    return made;
  try {
    link_with_agent(made.cleaner);
  } catch (const std::bad_alloc&) {
    is_linked = false;  // the next use tries again
    throw;
  }
  return made;
}

int fail(const base::Error& error) {
  std::strncpy(last_error, error.message.c_str(), sizeof last_error - 1);
  switch (error.code) {
    case base::Code::bad_input:
      return EBB_BAD_INPUT;
    case base::Code::not_found:
      return EBB_NOT_FOUND;
    case base::Code::not_permitted:
      return EBB_NOT_PERMITTED;
    case base::Code::unavailable:
      return EBB_UNAVAILABLE;
    case base::Code::out_of_memory:
      return EBB_OUT_OF_MEMORY;
    case base::Code::io:
      return EBB_IO;
    case base::Code::internal:
      return EBB_INTERNAL;
  }
  return EBB_INTERNAL;
}

int store_text(const std::string& text, char** into) {
  if (into == nullptr)
    return fail(base::error(base::Code::bad_input, "the place for the text must not be null"));
  *into = ::strdup(text.c_str());
  if (*into == nullptr) return fail(base::error(base::Code::out_of_memory, "out of memory"));
  return EBB_OK;
}

int fail_with_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    std::strncpy(last_error, "out of memory", sizeof last_error - 1);
    return EBB_OUT_OF_MEMORY;
  } catch (const std::exception& failure) {
    std::strncpy(last_error, failure.what(), sizeof last_error - 1);
    return EBB_INTERNAL;
  } catch (...) {
    std::strncpy(last_error, "an unknown exception", sizeof last_error - 1);
    return EBB_INTERNAL;
  }
}

base::Status store(const keep::CleanupReport& report, ebb_cleanup_report* into) {
  const fact::Cleanup& measured = report.measured;
  ebb_cleanup_report whole{};
  whole.known_before = known(measured.before);
  whole.known_after = known(measured.after);
  whole.deep = measured.depth == fact::Depth::deep ? 1 : 0;
  whole.coalesced = report.coalesced ? 1 : 0;
  whole.rss_before_bytes = measured.before.rss.value_or(0);
  whole.rss_after_bytes = measured.after.rss.value_or(0);
  whole.live_before_bytes = measured.before.live.value_or(0);
  whole.live_after_bytes = measured.after.live.value_or(0);
  whole.retained_before_bytes = measured.before.retained.value_or(0);
  whole.retained_after_bytes = measured.after.retained.value_or(0);
  whole.returned_bytes = measured.returned;
  whole.seconds = measured.seconds;
  whole.device_returned_bytes = fact::returned_by(measured.devices);
  return store_checked(whole, into);
}

base::Status store_nothing(bool disabled, ebb_cleanup_report* into) {
  ebb_cleanup_report whole{};
  whole.disabled = disabled ? 1 : 0;
  return store_checked(whole, into);
}

}  // namespace ebb::capi

const char* ebb_last_error(void) {
  return ebb::capi::last_error;
}
