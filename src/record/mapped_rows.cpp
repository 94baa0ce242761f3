// SPDX-License-Identifier: Apache-2.0
#include "record/mapped_rows.h"

#include "record/values.h"

namespace ebb::record {

void insert(Database& database, std::int64_t run, std::int64_t process, const Mapped& mapped) {
  const fact::MappedParts& parts = mapped.parts;
  database.run("INSERT OR REPLACE INTO mapped VALUES(?,?,?,?,?,?,?)", run, process,
               milliseconds(mapped.seconds), parts.stacks, parts.pinned, parts.pinned_shared,
               parts.python);
}

std::vector<NumberedMapped> read_mapped(Database& database, std::int64_t run) {
  std::vector<NumberedMapped> found;
  if (database.number("SELECT count(*) FROM sqlite_master WHERE name = 'mapped'") == 0)
    return found;
  database.each(
      "SELECT process, ms, stacks, pinned, pinned_shared, python FROM mapped WHERE run = ? "
      "ORDER BY process",
      [&](const Row& row) {
        NumberedMapped one;
        one.process = row.integer(0);
        one.mapped.seconds = seconds_of(row.integer(1));
        one.mapped.parts = {row.optional_count(2), row.optional_count(3), row.count(4),
                            row.optional_count(5)};
        found.push_back(one);
      },
      run);
  return found;
}

void forget_mapped(Database& database, std::int64_t run) {
  database.run(
      "DELETE FROM mapped WHERE run = ?1 AND process NOT IN "
      "(SELECT process FROM processes WHERE run = ?1)",
      run);
}

}  // namespace ebb::record
