// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "page/document.h"
#include "replay/job.h"

namespace ebb::cli {

/// The segments and blocks under a row's settings just after an operation, each block with the
/// stack it was allocated with.
page::MemoryMap map_at(const replay::Job& job, const replay::Row& row, std::uint32_t operation,
                       const std::string& title);

}  // namespace ebb::cli
