// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/snapshot_file.h"
#include "page/document.h"
#include "replay/doctor.h"
#include "replay/tuner.h"

namespace ebb::cli {

/// Pages for `--html`. All show reserved and allocated memory over time for every setting, and the
/// segments and blocks of one of them when most was reserved.

page::Document page_of_replay(const Job& job, const std::vector<replay::Row>& rows);
page::Document page_of_tuning(const Job& job, const replay::TuneResult& result, std::size_t index);
page::Document page_of_diagnosis(const Job& job, const replay::Diagnosis& diagnosis,
                                 const replay::Circumstances& circumstances);

/// Writes one page for one job, or one each with the device or number in its name for several.
int write_pages(const std::vector<page::Document>& pages, const std::string& path);

}  // namespace ebb::cli
