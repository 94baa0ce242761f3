// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

namespace nvml {
class Library;
}

/// One GPU, in bytes. Parts that this GPU does not tell are empty.
struct GpuReading {
  unsigned int index = 0;  ///< in NVML's order, by bus address: CUDA's may differ
  std::string name;
  std::string uuid;
  std::optional<std::uint64_t> total;
  std::optional<std::uint64_t> used;      ///< by all processes
  std::optional<std::uint64_t> free;      ///< what can still be allocated
  std::optional<std::uint64_t> reserved;  ///< kept by the driver; within `used` where not told
  std::optional<double> utilization;      ///< percent of time with a kernel running
  /// What the process asked about holds. Empty when NVML does not list it: it has nothing there, or
  /// NVML does not tell, as in a container, where it knows processes by the host's numbers.
  std::optional<std::uint64_t> process;
  std::string trouble;  ///< the first call that failed, for people; empty when all is well
};

/// The GPUs of the machine through NVIDIA's management library, which is loaded at run time, never
/// linked. Keep one: starting takes longer than reading. Movable; reading is thread-safe.
class GpuMeter {
 public:
  /// Loads `library`; without a name $EBB_NVML, else libnvidia-ml.so.1. Code::unavailable, in one
  /// line, where there is no driver or the library is not usable.
  static base::Result<GpuMeter> open(const std::string& library = "");

  GpuMeter(GpuMeter&&) noexcept;
  ~GpuMeter();

  /// All GPUs, with the bytes of `pid`. A GPU that fails is in the list with its trouble; only
  /// when they cannot be counted is the whole an Error.
  base::Result<std::vector<GpuReading>> read(pid_t pid = kSelf) const;

 private:
  explicit GpuMeter(std::unique_ptr<nvml::Library> library);

  std::unique_ptr<nvml::Library> library_;
};

}  // namespace ebb::sense
