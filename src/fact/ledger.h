// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace ebb::fact {

/// Where the memory of one process is, in bytes. The parts that are known and `unexplained` add up
/// to `total`; a part that is not known is no number, and lies in `unexplained` where it is any.
struct Ledger {
  std::optional<std::uint64_t> total;     ///< rss and what was swapped out
  std::optional<std::uint64_t> live;      ///< of malloc, as far as it was ever touched
  std::optional<std::uint64_t> retained;  ///< of malloc
  /// What allocators of libraries' own hold, those that count it.
  std::optional<std::uint64_t> private_allocators;
  std::optional<std::uint64_t> python;  ///< arenas of Python's small objects
  std::optional<std::uint64_t> pinned;  ///< host memory that CUDA's driver has allocated
  std::optional<std::uint64_t> shared;  ///< shared memory
  std::optional<std::uint64_t> file;    ///< mapped files
  std::optional<std::uint64_t> stacks;  ///< of all threads
  std::optional<std::uint64_t> unexplained;
  std::vector<std::string> notes;  ///< what is not known, and where it is then

  bool operator==(const Ledger&) const = default;

  /// The parts under their names, in the order in which they are shown; `unexplained` is the last.
  struct Part {
    const char* name;
    std::optional<std::uint64_t> bytes;
  };
  std::vector<Part> parts() const;
};

/// total_bytes, a key with the suffix _bytes for each part, notes.
base::Json to_json(const Ledger& ledger);

}  // namespace ebb::fact
