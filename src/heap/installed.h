// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "heap/allocator_kind.h"

namespace ebb::heap {

/// An allocator that a job can be started on.
struct InstalledAllocator {
  AllocatorKind kind = AllocatorKind::unknown;
  std::string path;              ///< for LD_PRELOAD
  bool has_purge_delay = false;  ///< mimalloc: MIMALLOC_PURGE_DELAY rather than _DECOMMIT_DELAY
};

/// Looks for the allocator's library: ldconfig's cache first, then the usual folders of every
/// architecture, always a library that this machine's programs can load. Code::unavailable says how
/// to install it; Code::io, that it could not be looked for. `root` is in front of every path, for
/// tests.
/// Requires: kind is jemalloc, tcmalloc or mimalloc.
base::Result<InstalledAllocator> find_installed(AllocatorKind kind, const std::string& root = "");

/// With the package managers of Debian, Red Hat and Alpine.
const char* how_to_install(AllocatorKind kind);

}  // namespace ebb::heap
