// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "replay/doctor/comparison.h"
#include "replay/doctor/stats_diagnosis.h"
#include "replay/job.h"
#include "term/style.h"

namespace ebb::show {

/// A recorded job's verdict, and who holds what was live then: by line of the program where stacks
/// were recorded, else by size.
std::string diagnosis_text(const replay::Job& job, const replay::SnapshotDiagnosis& diagnosis,
                           const term::Style& style);

/// The verdict on the numbers of torch.cuda.memory_stats().
std::string stats_text(const std::string& name, const replay::StatsDiagnosis& diagnosis,
                       const term::Style& style);

/// What grew from the snapshot `there` to the snapshot `here`.
std::string comparison_text(const std::string& here, const std::string& there,
                            const replay::Comparison& comparison, const term::Style& style);

}  // namespace ebb::show
