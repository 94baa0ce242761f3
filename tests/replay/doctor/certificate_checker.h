// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Checks the `evidence` of a diagnosis against the recording itself. Knows the file and the JSON
/// and nothing of the code that made the diagnosis. Returns the first thing that is wrong with it,
/// or nothing. A certificate of kind `replay` is checked in form only (certificate_replay.h).
std::string why_rejected(const trace::Snapshot& snapshot, int device, const base::Json& evidence);

}  // namespace ebb::replay
