// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "fact/private_allocator.h"
#include "keep/diagnosis.h"

namespace ebb::keep {

/// What allocators of libraries' own mean for a process: how much lies beside malloc, what they
/// gave back, and which of them may hold the rest.
class PrivateMemory {
 public:
  explicit PrivateMemory(const MemorySeries& series);

  /// Half or more of what cleanups returned came from them.
  bool explains_cleanups() const;
  /// The one that gave back most; null where none gave back anything.
  const fact::PrivateAllocator* most_returned() const { return most_returned_; }

  /// One sentence about that one. Requires: there is one.
  std::string what_cleanups_did() const;

  /// One that could not be asked and may hold what lies beside malloc: much, and most of the
  /// memory, at all times. Null where there is none.
  const fact::PrivateAllocator* out_of_reach() const;

  /// What lies beside malloc at the least, and whose it may be, for people; empty where it is
  /// little or nothing is known about it.
  std::vector<std::string> findings() const;

  /// Those that may hold what lies beside malloc: "libarrow.so.2600 (mimalloc)", …; "" for none.
  std::string suspects() const;

 private:
  const MemorySeries& series_;
  std::uint64_t returned_ = 0;
  std::uint64_t beside_ = 0;  ///< the least of the second half
  double level_ = 0;          ///< rss at the end
  const fact::PrivateAllocator* most_returned_ = nullptr;
};

/// The setting that makes such an allocator give back by itself, or takes it out of the way; each
/// was tried (docs/allocators.md).
std::string setting_for(const fact::PrivateAllocator& allocator);

/// As JSON: kind, library, controllable, live_bytes, retained_bytes, asked, returned_bytes.
base::Json to_json(const fact::PrivateAllocator& allocator);
base::Json to_json(std::span<const fact::PrivateAllocator> allocators);

}  // namespace ebb::keep
