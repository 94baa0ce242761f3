// SPDX-License-Identifier: Apache-2.0
#include "record/peaks.h"

namespace ebb::record {

void store_peak(Database& database, std::int64_t run, std::int64_t process, std::uint64_t rss) {
  database.run("INSERT OR REPLACE INTO peaks(run, process, rss) VALUES(?,?,?)", run, process, rss);
}

std::map<std::int64_t, std::uint64_t> read_peaks(Database& database, std::int64_t run) {
  std::map<std::int64_t, std::uint64_t> peaks;
  if (database.schema() < 2) return peaks;
  database.each(
      "SELECT process, rss FROM peaks WHERE run = ?",
      [&](const Row& row) { peaks[row.integer(0)] = row.count(1); }, run);
  return peaks;
}

}  // namespace ebb::record
