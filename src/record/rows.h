// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "record/database.h"
#include "record/model.h"
#include "record/reading.h"

namespace ebb::record {

// How the structs of model.h stand in the tables: one function per table and direction. Failures
// stick to the database. Times are stored in milliseconds, costs in microseconds, shares in
// hundredths of a percent. Processes are numbered within their run, so that a sample names its
// process in a byte or two.

inline constexpr std::int64_t kAllTime = std::numeric_limits<std::int64_t>::max();

/// Seconds as stored: never negative, whatever is given.
std::int64_t milliseconds(double seconds);
double seconds_of(std::int64_t milliseconds);

/// The beginning of `text`, at most `bytes` long, not cut within a character.
std::string shortened(const std::string& text, std::size_t bytes);

/// A command as a JSON array, cut after some thousand bytes, and back.
std::string command_text(const std::vector<std::string>& command);
std::vector<std::string> command_of(const std::string& text);

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

/// The oldest `most` samples of a run, in order of time.
std::vector<NumberedReading> read_samples(Database& database, std::int64_t run,
                                          std::int64_t most = kAllTime);
/// The buckets of one process in order of time, those that begin in [from_ms, until_ms).
std::vector<NumberedReading> read_buckets(Database& database, std::int64_t run,
                                          std::int64_t process, std::int64_t from_ms = 0,
                                          std::int64_t until_ms = kAllTime);
/// In order of time, the oldest `most`.
std::vector<PlaceReading> read_place(Database& database, std::int64_t run,
                                     std::int64_t most = kAllTime);
std::vector<NumberedAction> read_actions(Database& database, std::int64_t run,
                                         std::int64_t most = kAllTime);

}  // namespace ebb::record
