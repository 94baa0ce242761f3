// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "record/database.h"

namespace ebb::record {

// The table `peaks`: the highest rss of each process, as the kernel kept it. It came with version 2
// of the schema. Failures stick to the database.

void store_peak(Database& database, std::int64_t run, std::int64_t process, std::uint64_t rss);

/// By the number of the process; empty for a file of version 1.
std::map<std::int64_t, std::uint64_t> read_peaks(Database& database, std::int64_t run);

}  // namespace ebb::record
