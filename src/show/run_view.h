// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "run/preparation.h"
#include "run/supervisor.h"

namespace ebb::show {

/// "run 12: 3.2 h, peak 4.1 GiB, 12 cleanups returned 8.3 GiB in 0.4 s (ebb report 12)". `run_id`
/// 0: nothing was recorded; `db`: the record that was named, "" for the default one.
std::string summary_line(const run::Summary& summary, std::int64_t run_id,
                         const std::string& db = "");

/// What a run would set, preload and do.
std::string dry_run_text(const run::Options& options, const run::Preparation& preparation);
base::Json dry_run_json(const run::Options& options, const run::Preparation& preparation);

}  // namespace ebb::show
