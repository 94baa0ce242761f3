// SPDX-License-Identifier: Apache-2.0
#include "record/device_rows.h"

#include "record/values.h"

namespace ebb::record {

void insert(Database& database, std::int64_t run, std::int64_t process,
            const DeviceSample& device) {
  const fact::CardMemory& memory = device.card.memory;
  database.run("INSERT OR REPLACE INTO devices VALUES(?,?,?,?,?,?,?,?,?,?)", run, process,
               std::int64_t{device.card.index}, milliseconds(device.seconds), memory.total,
               memory.free, memory.reserved, memory.cached, memory.live, memory.inactive);
}

std::vector<NumberedDevice> read_devices(Database& database, std::int64_t run) {
  std::vector<NumberedDevice> found;
  if (database.number("SELECT count(*) FROM sqlite_master WHERE name = 'devices'") == 0)
    return found;
  database.each(
      "SELECT process, device, ms, total, free, reserved, cached, live, inactive FROM devices "
      "WHERE run = ? ORDER BY process, device",
      [&](const Row& row) {
        NumberedDevice one;
        one.process = row.integer(0);
        one.device.seconds = seconds_of(row.integer(2));
        one.device.card.index = static_cast<std::uint32_t>(row.count(1));
        one.device.card.memory = {row.count(3), row.count(4),          row.count(5),
                                  row.count(6), row.optional_count(7), row.optional_count(8)};
        found.push_back(one);
      },
      run);
  return found;
}

void forget_devices(Database& database, std::int64_t run) {
  database.run(
      "DELETE FROM devices WHERE run = ?1 AND process <> ?2 AND process NOT IN "
      "(SELECT process FROM processes WHERE run = ?1)",
      run, kMachineItself);
}

}  // namespace ebb::record
