// SPDX-License-Identifier: Apache-2.0
#include "cache/safe_allocate.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::cache {
namespace {

Cause cause_of(const Failure& failure) {
  if (failure.kind != FailureKind::out_of_memory && failure.kind != FailureKind::rejected) {
    return Cause::refused;
  }
  return failure.is_fragmentation() ? Cause::fragmentation : Cause::shortage;
}

std::uint64_t in_use(const Allocator& allocator) {
  return static_cast<std::uint64_t>(allocator.stats().current(Metric::allocated_bytes));
}

}  // namespace

SafeAllocation safe_allocate(Allocator& allocator, base::ReclaimerRegistry& hooks,
                             std::uint64_t bytes, StreamId stream, const base::Clock& clock) {
  SafeAllocation result;
  result.address = allocator.try_allocate(bytes, stream, &result.first);
  if (result.address != 0 || result.first.kind == FailureKind::none) return result;
  result.cause = cause_of(result.first);
  if (result.cause == Cause::refused) {
    result.last = result.first;
    return result;
  }

  const std::int64_t start = clock.now_ns();
  const std::uint64_t used = in_use(allocator);
  const std::uint64_t reserved = allocator.reserved();
  hooks.run(true, [&](const base::ReclaimerRegistry::Entry& entry, const base::Reclaimed& reclaimed,
                      double seconds) {
    result.hooks.push_back({entry.name, reclaimed.ok, reclaimed.detail, seconds});
  });
  const std::uint64_t used_after = in_use(allocator);
  result.let_go = used - std::min(used, used_after);
  // Refused only in a capture of old versions, where the retry is all that is left.
  static_cast<void>(allocator.empty_cache());
  const std::uint64_t reserved_after = allocator.reserved();
  result.returned = reserved - std::min(reserved, reserved_after);
  result.seconds = base::seconds_between(start, clock.now_ns());

  result.address = allocator.try_allocate(bytes, stream, &result.last);
  if (result.address != 0) result.remedy = result.let_go > 0 ? Remedy::hooks : Remedy::waiting;
  return result;
}

std::string text_of(const SafeAllocation& allocation) {
  if (allocation.cause == Cause::none) return "served at once";
  if (allocation.cause == Cause::refused) return summary_of(allocation.last);
  const Failure& failure = allocation.ok() ? allocation.first : allocation.last;
  std::string text = allocation.cause == Cause::fragmentation
                         ? "fragmentation: enough was free, in pieces too small"
                         : "shortage: too much was in use";
  text += base::format_text("; %zu cleanup hooks freed %s, %s went back to the device in %.3f s; ",
                            allocation.hooks.size(), base::bytes_text(allocation.let_go).c_str(),
                            base::bytes_text(allocation.returned).c_str(), allocation.seconds);
  switch (allocation.remedy) {
    case Remedy::hooks:
      return text + "the hooks helped: " + base::bytes_text(failure.requested) + " served";
    case Remedy::waiting:
      return text + "waiting for other streams helped: " + base::bytes_text(failure.requested) +
             " served";
    case Remedy::none:
      break;
  }
  return text + "nothing helped; " + summary_of(failure);
}

}  // namespace ebb::cache
