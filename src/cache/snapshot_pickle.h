// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cache/snapshot.h"

namespace ebb::cache {

/// The snapshot as a pickle with the dictionary that torch.cuda.memory._snapshot() of that version
/// returns, for `pickle.load`, torch.cuda._memory_viz and memory_viz. Stacks are empty.
std::string pickle_of(const Snapshot& snapshot);

/// torch.cuda.memory._dump_snapshot(): the pickle as a file, replaced in one step.
base::Status dump_snapshot(const Snapshot& snapshot, const std::string& path);

}  // namespace ebb::cache
