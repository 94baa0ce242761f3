// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "run/preparation.h"
#include "run/supervisor.h"

namespace ebb::cli {

/// "run 12: 3.2 h, peak 4.1 GiB, 12 cleanups returned 8.3 GiB in 0.4 s (ebb report 12)".
std::string summary_line(const run::Summary& summary, std::int64_t run_id);

/// Exits as the command did where a signal ended it; otherwise the status to return.
int exit_as_its_command(const run::Summary& summary);

/// What a run would set, preload and do.
void print_dry_run(const run::Options& options, const run::Preparation& preparation, bool json);

}  // namespace ebb::cli
