// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "page/document.h"
#include "replay/job.h"

namespace ebb::show {

/// Segments and blocks, each block with the stack it was allocated with. `moment` comes from
/// replay::moment_of with the same row.
page::MemoryMap map_of(const replay::Job& job, const replay::Row& row,
                       const replay::Outcome& moment, const std::string& title);

}  // namespace ebb::show
