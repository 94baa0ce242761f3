// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/model.h"
#include "sense/process.h"

namespace ebb::run {

/// What the kernel says of a process, as a sample of it.
record::Sample sample_of(const sense::ProcessReading& reading, const record::ProcessKey& process,
                         double seconds);

}  // namespace ebb::run
