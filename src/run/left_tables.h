// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ebb::run {

/// Writes into a run's folder what run its tables of sites are of: where it is recorded, and when
/// it began, in unix seconds and on the monotonic clock. If supervisor and job are killed together,
/// fold_left_tables() knows by it where the tables belong.
void mark_tables(const std::string& folder, const std::string& record, double started,
                 std::int64_t began_ns);

/// Takes tables of sites that killed supervisors of this user left behind into the records of their
/// runs, and removes them. Tables of jobs that go on, and of records that cannot be written to now,
/// are left for another time; so is what is not done after `seconds`, since names of functions may
/// lie in large files. Nothing in the tables is trusted. Says nothing.
void fold_left_tables(double seconds);

/// The time for it, where somebody waits for an answer, and where for a job to begin.
inline constexpr double kFoldBeforeAnswer = 20, kFoldBeforeJob = 1;

}  // namespace ebb::run
