// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fact/ledger.h"
#include "fact/private_allocator.h"
#include "heap/host_allocator.h"
#include "heap/private_copies.h"
#include "sense/gpu.h"
#include "sense/memory_info.h"

namespace ebb::keep {

/// Everything that can be said about one process's memory now.
struct Info {
  heap::Detection detection;
  std::string allocator_version;  ///< empty where unknown, always so from outside
  bool controllable = false;      ///< a cleanup in that process could act
  heap::HeapReading heap;         ///< from outside: nothing but the reasons
  std::vector<heap::PrivateCopy> private_copies;
  std::string private_trouble;  ///< why nobody knows them; usually empty
  /// The same with what they say of themselves; from outside they say nothing.
  std::vector<fact::PrivateAllocator> private_allocators;
  fact::Ledger ledger;
  sense::MemoryInfo memory;
  std::vector<sense::GpuReading> gpus;
  std::string gpu_trouble;  ///< why there are no GPUs; empty where there are some
  /// What malloc has resident for each byte that the program uses: 1 is without loss. Nothing
  /// where the allocator does not tell, or the program uses nothing.
  std::optional<double> fragmentation_ratio() const;

  std::optional<double> cpu_percent;          ///< of the process since it started; 100 is one core
  std::optional<double> machine_cpu_percent;  ///< of the machine since it booted; 100 is all cores
};

/// This process.
base::Result<Info> info_here();

/// Another process, without touching it; live and retained bytes are its allocator's secret.
/// Code::not_found and Code::not_permitted as in sense and heap.
base::Result<Info> info_of(int pid);

/// As JSON; the keys are documented in docs/info.md.
base::Json to_json(const Info& info);

}  // namespace ebb::keep
