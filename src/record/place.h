// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"

namespace ebb::record {

/// Where runs are recorded: the file `named`, or the default place where it is empty.
base::Result<std::string> path_of(const std::string& named);

/// Where a job that begins now is recorded.
struct Place {
  std::string path;     ///< "": nowhere
  std::string trouble;  ///< then why
};

/// As path_of(). That there is no default place (HOME is not set) is a trouble and no error: the
/// job runs all the same.
base::Result<Place> place_of(const std::string& named);

/// A run that begins now, on this machine.
Run beginning_run(const std::string& name, const std::vector<std::string>& command);

/// A run by number, name or "last", with everything that was recorded of it; the file as above.
base::Result<RecordedRun> read_run(const std::string& run, const std::string& named);

/// All runs of a file. None where it is the default one and is not there yet.
base::Result<std::vector<RunSummary>> list_runs(const std::string& path, bool is_default);

/// Runs by number, name or "last", each once.
base::Result<std::vector<std::int64_t>> find_runs(Store& store,
                                                  const std::vector<std::string>& runs);

}  // namespace ebb::record
