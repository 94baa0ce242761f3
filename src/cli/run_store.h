// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace ebb::cli {

/// Where runs are recorded: `--db FILE`, or the default place.
base::Result<std::string> record_path(const std::string& db);

/// Where a job that begins now is recorded.
struct RecordPlace {
  std::string path;     ///< "": nowhere
  std::string trouble;  ///< then why
};

/// As record_path(). That there is no default place (HOME is not set) is a trouble and no error:
/// the job runs all the same.
inline base::Result<RecordPlace> record_place(const std::string& db) {
  const auto path = record_path(db);
  if (path) return RecordPlace{*path, ""};
  if (!db.empty()) return path.error();
  return RecordPlace{"", "nothing is recorded: " + path.error().message};
}

/// A run that begins now, on this machine.
record::Run beginning_run(const std::string& name, const std::vector<std::string>& command);

/// A run by number, name or "last", with everything that was recorded of it.
base::Result<record::RecordedRun> read_run(const std::string& run, const std::string& db);

}  // namespace ebb::cli
