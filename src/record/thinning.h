// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "record/database.h"

namespace ebb::record {

// Keeps a record small however long runs last. Old samples become buckets with their minimum, mean
// and maximum on a grid of time; where buckets become too many, the grid becomes twice as wide. All
// functions work inside the caller's transaction, a bounded piece at a time, and leave failures
// with the database.

/// Rows that one run may have.
struct RunBounds {
  std::int64_t samples = 0;        ///< at full rate, the newest; older ones become buckets
  std::int64_t buckets = 0;        ///< of all processes together
  std::int64_t least_buckets = 0;  ///< of one process, however many there are
  std::int64_t most_buckets = 0;   ///< of one process
  std::int64_t processes = 0;      ///< those that lived shortest are forgotten first
  std::int64_t places = 0;
  std::int64_t actions = 0;
  std::int64_t rounds = 0;
  std::int64_t events = 0;
  std::int64_t simulated_bytes = 0;  ///< of what rounds of a simulation came to
};

/// While it runs: about 8 MB at most.
inline constexpr RunBounds kRunning{40'000, 20'000, 16,   1024, 2000,
                                    8000,   4000,   8000, 2000, 2'000'000};

/// What is left of a finished run when room is needed, by `runs.detail`: about 500 KB, about 60 KB,
/// nothing but the row in `runs`. 0 is all that it had when it ended.
inline constexpr std::array<RunBounds, 4> kDetail{{
    kRunning,
    {0, 2560, 8, 512, 200, 512, 256, 512, 128, 200'000},
    {0, 320, 4, 64, 32, 64, 32, 64, 24, 20'000},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
}};
inline constexpr std::int64_t kLeastDetail = 3;

/// What the whole file may have; runs that are under way come on top.
struct FileBounds {
  std::uint64_t bytes = 256 * base::kMiB;
  std::int64_t runs = 10'000;
};

/// Rows that one piece of work touches, about.
inline constexpr std::int64_t kPiece = 4000;

/// Brings one run closer to its bounds. True when it is within them.
bool thin_run(Database& database, std::int64_t run, const RunBounds& bounds);

/// Moves the oldest `most` samples of a run into buckets.
void fold_samples(Database& database, std::int64_t run, const RunBounds& bounds, std::int64_t most);

/// Brings the file closer to its bounds: of the finished runs, the ones with most detail lose some,
/// the oldest first. `now_ms` is unix time: a run that nobody has written to for a day counts as
/// finished. True when nothing was left to do.
bool thin_file(Database& database, const FileBounds& bounds, std::int64_t now_ms);

/// Removes a run that thin_run() has left nothing of but its row.
void remove_row(Database& database, std::int64_t run);

}  // namespace ebb::record
