// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace ebb::cli {

/// Where runs are recorded: `--db FILE`, or the default place.
base::Result<std::string> record_path(const std::string& db);

/// A run that begins now, on this machine.
record::Run beginning_run(const std::string& name, const std::vector<std::string>& command);

/// A run by number, name or "last", with everything that was recorded of it.
base::Result<record::RecordedRun> read_run(const std::string& run, const std::string& db);

}  // namespace ebb::cli
