// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "fact/diagnosis.h"
#include "replay/doctor/leak.h"
#include "replay/doctor/ledger.h"
#include "replay/forecast.h"
#include "replay/lifetimes.h"

namespace ebb::replay {

// Proofs of a diagnosis, made so that somebody with nothing but the recording can check them. A
// block is named by the index of its `alloc` event; one from before the recording by -1, -2, … in
// order of address.

/// More is live at once than the limit: the blocks, and the request on top of them.
base::Json live_set_certificate(const Workload& workload, const LowerBound& bound,
                                std::uint64_t limit);

/// The job fits: an offset for every block in one range below the limit where that is found, else
/// the replay in which it fits, without the cause or `fixed`. Null where none is known.
base::Json failure_certificate(const Workload& workload, const Row& recorded,
                               const Circumstances& circumstances, fact::Verdict verdict,
                               const LowerBound& bound, const std::optional<Row>& fixed);

/// What the reserved bytes were just after an operation; with `as_recorded`, in the recording
/// itself.
base::Json ledger_certificate(const Ledger& ledger, const Workload& workload,
                              std::uint32_t operation, bool as_recorded);

/// Live bytes at every step, and the places that hold what is new.
base::Json growth_certificate(const Leak& leak, const trace::Snapshot& snapshot, int device,
                              const Workload& workload);

}  // namespace ebb::replay
