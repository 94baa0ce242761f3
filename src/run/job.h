// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "run/supervisor.h"

namespace ebb::run {

/// How the command ended, or what a shell would say where it could not be run.
struct JobEnd {
  Ending ending;
  std::string trouble;  ///< why it could not be run; empty where it was
};

/// What is said of a job that has ended, and of its run in the record (0: nothing is recorded).
using LastLine = std::function<std::string(const Summary& summary, std::int64_t run_id)>;

/// Called once the command runs, with the number of its run likewise.
using Started = std::function<void(std::int64_t run_id)>;

/// Runs the command to its end, supervised and recorded. Everything that was needed for it is gone
/// afterwards, the folder of its socket too. An error where no process can be started or supervised
/// from here: nothing was started then. Throws likewise, std::bad_alloc for one; where supervision
/// fails later, this process only waits for the command and ends as it does.
base::Result<JobEnd> supervise(const Options& options, const Preparation& preparation,
                               std::optional<wire::Listener> listener, const LastLine& last_line,
                               const Started& started = {});

}  // namespace ebb::run
