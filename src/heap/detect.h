// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "heap/identify.h"

namespace ebb::heap {

/// The allocator that really serves malloc in a process, and where it was found.
struct Detection {
  Identity identity;
  std::string object;  ///< the file that malloc comes from, /proc/self/exe for the program
  std::uint64_t load_address = 0;  ///< where that object lies; 0 where unknown (another process)
  std::string note;                ///< why nothing better is known; usually empty

  AllocatorKind kind() const { return identity.kind; }
};

/// This process: the object that a call of malloc reaches, and that object's own control symbols.
/// Looked up once, then remembered: malloc does not change under a running process. Thread-safe.
const Detection& detect_here();

/// Another process, from its ELF files in the dynamic linker's search order, without touching it.
/// `proc` is the root of the proc file system. Code::not_found for no such process,
/// Code::not_permitted for one whose maps are not ours to read.
base::Result<Detection> detect_in(int pid, const std::string& proc = "/proc");

}  // namespace ebb::heap
