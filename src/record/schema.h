// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "record/database.h"

namespace ebb::record {

/// What PRAGMA user_version says of files that this build writes.
inline constexpr int kSchemaVersion = 2;

/// Opens a record for writing and makes it, with the folders above it, where there is none. An
/// older schema is brought up to date in one transaction; a newer one, and a file that is no
/// record, are refused with Code::bad_input.
base::Result<Database> open_for_writing(const std::string& path, int busy_ms);

/// Opens a record for reading only. Code::not_found where there is none.
base::Result<Database> open_for_reading(const std::string& path);

}  // namespace ebb::record
