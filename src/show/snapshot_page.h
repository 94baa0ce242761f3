// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "page/document.h"
#include "replay/job.h"

namespace ebb::show {

// Pages of recorded jobs. All show reserved and allocated memory over time for every setting, and
// the segments and blocks of one of them at a moment that replay::moment_of looked at.

/// `at_peak`: the first row when most was reserved.
page::Document page_of_replay(const replay::Job& job, const std::vector<replay::Row>& rows,
                              const replay::Outcome& at_peak);

/// One job of a search: `index` is its place in the result; each moment is when most was reserved.
page::Document page_of_tuning(const replay::Job& job, const replay::TuneResult& result,
                              std::size_t index, const replay::Outcome& recorded_at_peak,
                              const replay::Outcome& best_at_peak);

/// To a page of the same job's diagnosis: what a search found, with the place of the job in it and
/// the best setting when most was reserved.
void add_tuning(page::Document& page, const replay::Job& job, const replay::TuneResult& result,
                std::size_t index, const replay::Outcome& best_at_peak);

/// Also who holds it, by line of the program, where stacks were recorded.
page::Document page_of_diagnosis(const replay::Job& job, const replay::SnapshotDiagnosis& diagnosis,
                                 const replay::DiagnosisReplays& replays);

}  // namespace ebb::show
