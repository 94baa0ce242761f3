// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record/database.h"
#include "record/model.h"

namespace ebb::record {

/// An allocator of a library's own with the number of its process, in one run.
struct NumberedBeside {
  std::int64_t process = 0;
  Beside beside;  ///< its key is not filled in
};

/// What was known of the same one before is replaced.
void insert(Database& database, std::int64_t run, std::int64_t process, const Beside& beside);

/// In order of their processes. None where the file was written before there was such a table.
std::vector<NumberedBeside> read_beside(Database& database, std::int64_t run);

/// Removes what belongs to processes that are no longer kept.
void forget_beside(Database& database, std::int64_t run);

}  // namespace ebb::record
