// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "fact/death.h"
#include "record/database.h"

namespace ebb::record {

// The table `deaths`: why runs ended that did not end by themselves, one row for each, in the words
// of its JSON. It came with version 5 of the schema. Failures stick to the database.

void store_death(Database& database, std::int64_t run, const fact::Death& death);

/// By the number of the run.
std::map<std::int64_t, fact::Death> read_deaths(Database& database);

void forget_death(Database& database, std::int64_t run);

}  // namespace ebb::record
