// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record/database.h"
#include "record/model.h"

namespace ebb::record {

// The table `mapped`: what was last read of each process's mappings. It came with version 8 of the
// schema. Failures stick to the database.

/// A reading of mappings with the number of its process, in one run.
struct NumberedMapped {
  std::int64_t process = 0;
  Mapped mapped;  ///< its key is not filled in
};

/// What was known of the same process before is replaced.
void insert(Database& database, std::int64_t run, std::int64_t process, const Mapped& mapped);

/// In order of processes. None where the file was written before there was such a table.
std::vector<NumberedMapped> read_mapped(Database& database, std::int64_t run);

/// Removes what belongs to processes that are no longer kept.
void forget_mapped(Database& database, std::int64_t run);

}  // namespace ebb::record
