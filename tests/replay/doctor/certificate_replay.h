// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Runs the replay of a certificate again, from the recording: under its settings, limit and
/// release, without the cause that it leaves out (struck from the recording itself). Returns how it
/// came out otherwise, or nothing; nothing too for certificates without a replay. `limit` is the
/// one that the diagnosis was asked with.
std::string why_not_replayed(const trace::Snapshot& snapshot, int device,
                             std::optional<std::uint64_t> limit, const base::Json& evidence);

}  // namespace ebb::replay
