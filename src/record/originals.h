// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/database.h"

namespace ebb::record {

// The table `originals`: names and commands that are not UTF-8, by run and process, as JSON writes
// them: with their bytes beside them. The other tables have U+FFFD in their place. It came with
// version 4 of the schema. Failures stick to the database.

/// What the run itself is called, among its processes.
inline constexpr std::int64_t kRunItself = 0;

/// `texts`: an object. Stores nothing where all of it is UTF-8.
void store_original(Database& database, std::int64_t run, std::int64_t process,
                    const base::Json& texts);

/// Of the processes of a run, by their number.
std::map<std::int64_t, base::Json> read_originals(Database& database, std::int64_t run);
/// Of all runs themselves, by their number.
std::map<std::int64_t, base::Json> read_originals_of_runs(Database& database);

/// Puts the bytes of what stood under `key` in the place of `text`, where they are those of it.
void restore(std::string& text, const base::Json& original, const char* key);
void restore(std::vector<std::string>& words, const base::Json& original, const char* key);

/// Those of processes that are no longer kept.
void forget_originals(Database& database, std::int64_t run);

}  // namespace ebb::record
