// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "record/database.h"
#include "record/model.h"
#include "record/reading.h"
#include "record/values.h"

namespace ebb::record {

// How the structs of model.h stand in the tables: one function per table and direction. Failures
// stick to the database. Processes are numbered within their run, so that a sample names its
// process in a byte or two.

inline constexpr std::int64_t kAllTime = std::numeric_limits<std::int64_t>::max();

/// A reading, an action with the number of its process, in one run.
struct NumberedReading {
  std::int64_t process = 0;
  Reading reading;
};
struct NumberedAction {
  std::int64_t process = 0;
  Action action;  ///< its key is not filled in
};

void insert(Database& database, std::int64_t run, std::int64_t process, const Sample& sample);
void insert(Database& database, std::int64_t run, const NumberedReading& bucket);
void insert(Database& database, std::int64_t run, const PlaceReading& place);
void insert(Database& database, std::int64_t run, const NumberedAction& action);

/// The oldest `most` samples of a run from `from_ms` on, in order of time.
std::vector<NumberedReading> read_samples(Database& database, std::int64_t run,
                                          std::int64_t most = kAllTime, std::int64_t from_ms = 0);
/// The buckets of one process in order of time, those that begin in [from_ms, until_ms).
std::vector<NumberedReading> read_buckets(Database& database, std::int64_t run,
                                          std::int64_t process, std::int64_t from_ms = 0,
                                          std::int64_t until_ms = kAllTime);
/// In order of time, the oldest `most` from `from_ms` on.
std::vector<PlaceReading> read_place(Database& database, std::int64_t run,
                                     std::int64_t most = kAllTime, std::int64_t from_ms = 0);
/// In order of time, the oldest `most`.
std::vector<NumberedAction> read_actions(Database& database, std::int64_t run,
                                         std::int64_t most = kAllTime);

}  // namespace ebb::record
