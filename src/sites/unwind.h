// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sites/readable.h"
#include "sites/table.h"

namespace ebb::sites {

/// Where a thread stands; for the unwinder.
struct Place {
  std::uint64_t pc;
  std::uint64_t sp;
  std::uint64_t fp;
};

/// The calls of this thread from a place outwards, by the unwind tables that compilers leave in
/// every program (.eh_frame); code without them is followed by frame pointers. Inlined and
/// tail-called functions do not show. What it reads of the stack is asked of the kernel first.
class Unwinder {
 public:
  /// Finds the function of the C library that tells modules without a lock (glibc 2.35); calls the
  /// dynamic loader. Without it, frame pointers are all there is.
  void prepare();

  /// Calls from here on end in the function that begins at `address`; 0: they never do.
  void stop_at(std::uint64_t address) { stop_ = address; }

  /// Return addresses, innermost first; none from the module that holds `skipped`. Tells `table`
  /// the modules. `is_joined`: they end in the function of stop_at(), which is not among them.
  std::size_t walk(Place place, std::uint64_t skipped, Readable& memory, Table* table,
                   std::uint64_t* calls, std::size_t most, bool* is_joined) const;

 private:
  std::uint64_t stop_ = 0;
};

}  // namespace ebb::sites
