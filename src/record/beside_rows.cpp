// SPDX-License-Identifier: Apache-2.0
#include "record/beside_rows.h"

#include "record/values.h"

namespace ebb::record {
namespace {

constexpr std::size_t kLongestName = 256;

}  // namespace

void insert(Database& database, std::int64_t run, std::int64_t process, const Beside& beside) {
  const fact::PrivateAllocator& allocator = beside.allocator;
  database.run("INSERT OR REPLACE INTO private_allocators VALUES(?,?,?,?,?,?,?,?,?,?,?)", run,
               process, shortened(allocator.library, kLongestName),
               shortened(allocator.kind, kLongestName), shortened(allocator.prefix, kLongestName),
               milliseconds(beside.seconds), allocator.controllable, allocator.live,
               allocator.retained, allocator.asked, allocator.returned);
}

std::vector<NumberedBeside> read_beside(Database& database, std::int64_t run) {
  std::vector<NumberedBeside> found;
  // A file that is only read is not brought up to date.
  if (database.number("SELECT count(*) FROM sqlite_master WHERE name = 'private_allocators'") == 0)
    return found;
  database.each(
      "SELECT process, library, kind, prefix, ms, controllable, live, retained, asked, returned "
      "FROM private_allocators WHERE run = ? ORDER BY process, library, kind",
      [&](const Row& row) {
        NumberedBeside one;
        one.process = row.integer(0);
        one.beside.seconds = seconds_of(row.integer(4));
        fact::PrivateAllocator& allocator = one.beside.allocator;
        allocator.library = row.text(1);
        allocator.kind = row.text(2);
        allocator.prefix = row.text(3);
        allocator.controllable = row.integer(5) != 0;
        allocator.live = row.optional_count(6);
        allocator.retained = row.optional_count(7);
        allocator.asked = row.count(8);
        allocator.returned = row.count(9);
        found.push_back(std::move(one));
      },
      run);
  return found;
}

void forget_beside(Database& database, std::int64_t run) {
  database.run(
      "DELETE FROM private_allocators WHERE run = ?1 AND process NOT IN "
      "(SELECT process FROM processes WHERE run = ?1)",
      run);
}

}  // namespace ebb::record
