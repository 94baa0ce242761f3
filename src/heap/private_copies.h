// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "heap/detect.h"
#include "heap/loaded_objects.h"

namespace ebb::heap {

/// An allocator beside the main one, serving only the library that carries it.
struct PrivateCopy {
  Identity identity;
  std::string object;              ///< the library's file
  std::uint64_t load_address = 0;  ///< where it lies; 0 where unknown (another process)
};

/// "libarrow.so.2600" of its path.
std::string library_of(const PrivateCopy& copy);

/// What one loaded object carries; nothing for the one that serves malloc.
std::vector<PrivateCopy> private_copies_of(const LoadedObject& object);

/// Copies beside the main allocator in this process. Reads every loaded library's symbols and
/// strings: tens of milliseconds in a large process, so ask when a person wants to know.
std::vector<PrivateCopy> private_copies_here();

/// The same of another process, from its files, without touching it. Failures as detect_in.
base::Result<std::vector<PrivateCopy>> private_copies_in(int pid,
                                                         const std::string& proc = "/proc");

}  // namespace ebb::heap
