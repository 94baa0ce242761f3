// SPDX-License-Identifier: Apache-2.0
#include "cache/failure.h"

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::cache {

double Failure::fragmentation() const {
  if (reserved == 0) return 0;
  return 1.0 - static_cast<double>(allocated) / static_cast<double>(reserved);
}

std::string torch_size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes <= base::kKiB) {
    return base::format_text("%llu bytes", static_cast<unsigned long long>(bytes));
  }
  if (bytes <= base::kMiB) return base::format_text("%.2f KiB", value / base::kKiB);
  if (bytes <= base::kGiB) return base::format_text("%.2f MiB", value / base::kMiB);
  return base::format_text("%.2f GiB", value / base::kGiB);
}

namespace {

std::string hint(const VersionProfile& profile) {
  if (profile.minor <= 1) {
    return " If reserved but unallocated memory is large try setting max_split_size_mb to avoid "
           "fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF";
  }
  const char* page = profile.at_least(10)
                         ? "https://docs.pytorch.org/docs/stable/notes/"
                           "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf"
                         : "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables";
  return base::format_text(
      " If reserved but unallocated memory is large try setting "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
      "for Memory Management  (%s)",
      page);
}

}  // namespace

std::string message_of(const Failure& failure, const VersionProfile& profile,
                       bool expandable_segments) {
  if (failure.kind == FailureKind::too_large) {
    return "CUDA out of memory. Tried to allocate more than 1EB memory.";
  }
  std::string text = base::format_text(
      "CUDA out of memory. Tried to allocate %s. GPU %d has a total %s of %s of which %s is free. ",
      torch_size_text(failure.segment).c_str(), failure.device,
      profile.minor <= 1 ? "capacty" : "capacity", torch_size_text(failure.device_total).c_str(),
      torch_size_text(failure.device_free).c_str());
  if (failure.limit != kUnlimited && profile.at_least(5)) {
    text += torch_size_text(failure.limit) + " allowed; ";
  }
  text += "Of the allocated memory " + torch_size_text(failure.allocated + failure.private_free) +
          " is allocated by PyTorch, ";
  if (failure.private_free > 0 && profile.at_least(4)) {
    text += "with " + torch_size_text(failure.private_free) +
            " allocated in private pools (e.g., CUDA Graphs), ";
  }
  text += "and " + torch_size_text(failure.reserved - failure.allocated - failure.private_free) +
          " is reserved by PyTorch but unallocated.";
  if (!(expandable_segments && profile.at_least(14))) text += hint(profile);
  return text;
}

std::string summary_of(const Failure& failure) {
  if (failure.kind == FailureKind::driver_error) {
    return "device " + std::to_string(failure.device) + ": " + failure.driver.message;
  }
  std::string text = base::format_text("device %d: no memory for %s", failure.device,
                                       base::bytes_text(failure.requested).c_str());
  if (failure.kind == FailureKind::too_large) return text;
  text += base::format_text(
      " (a segment of %s): reserved %s, allocated %s, fragmentation %.0f %%, largest free block %s "
      "(usable here %s), device free %s",
      base::bytes_text(failure.segment).c_str(), base::bytes_text(failure.reserved).c_str(),
      base::bytes_text(failure.allocated).c_str(), failure.fragmentation() * 100,
      base::bytes_text(failure.largest_free).c_str(),
      base::bytes_text(failure.largest_free_usable).c_str(),
      base::bytes_text(failure.device_free).c_str());
  if (failure.limit != kUnlimited) text += ", limit " + base::bytes_text(failure.limit);
  text += "; tried:";
  if (failure.garbage_collected > 0) {
    text += " garbage collection " + base::bytes_text(failure.garbage_collected) + ",";
  }
  if (failure.asked_overflow_pools) text += " overflow pools,";
  if (failure.released_oversize > 0) {
    text += " oversize blocks " + base::bytes_text(failure.released_oversize) + ",";
  }
  if (failure.kind == FailureKind::rejected) return text + " nothing, rejected beforehand";
  if (failure.retried) {
    return text + " releasing the cache " + base::bytes_text(failure.released) + " and once more";
  }
  return text + " nothing was released because a capture or a pool scope is open";
}

base::Error error_of(const Failure& failure, const VersionProfile& profile,
                     bool expandable_segments) {
  if (failure.kind == FailureKind::driver_error) return failure.driver;
  base::Error error;
  error.code = base::Code::out_of_memory;
  error.message = message_of(failure, profile, expandable_segments);
  return error;
}

}  // namespace ebb::cache
