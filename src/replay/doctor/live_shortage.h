// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "fact/diagnosis.h"

namespace ebb::replay {

/// CUDA's context and libraries hold some hundred MiB of every process, beside its allocator: not
/// more than this.
inline constexpr std::uint64_t kOfCudaItself = 1ULL << 30;

/// What is known of a device, in bytes, at the moment at which a request gets no memory: all that a
/// running process can tell at once, without a recording.
struct LiveShortage {
  std::uint64_t requested = 0;
  std::uint64_t total = 0;                    ///< of the device
  std::uint64_t free = 0;                     ///< of it, for anybody
  std::uint64_t reserved = 0;                 ///< by this process's allocator
  std::uint64_t in_use = 0;                   ///< of what it reserved
  std::optional<std::uint64_t> largest_free;  ///< block that it could hand out
  std::optional<std::uint64_t> limit;         ///< that this process has set itself

  /// What is held by nobody that is known here: other processes, and CUDA's own of this one.
  std::uint64_t others() const;
};

/// Why there is no memory for it, in the doctor's words: self_limit, fragmentation, other_process
/// or capacity; healthy where there is.
fact::Diagnosis diagnose(const LiveShortage& shortage);

}  // namespace ebb::replay
