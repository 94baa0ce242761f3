// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record/database.h"
#include "record/model.h"

namespace ebb::record {

// The table `devices`: what was last known of each card, as the machine tells it and as each
// process does. It came with version 6 of the schema. Failures stick to the database.

/// Instead of the number of a process: the machine itself.
inline constexpr std::int64_t kMachineItself = 0;

/// What is known of a card, with the number of the process that told, in one run.
struct NumberedDevice {
  std::int64_t process = kMachineItself;
  DeviceSample device;  ///< its key is not filled in
};

/// What was known of the same one before is replaced.
void insert(Database& database, std::int64_t run, std::int64_t process, const DeviceSample& device);

/// In order of processes and cards. None where the file was written before there was such a table.
std::vector<NumberedDevice> read_devices(Database& database, std::int64_t run);

/// Removes what belongs to processes that are no longer kept.
void forget_devices(Database& database, std::int64_t run);

}  // namespace ebb::record
