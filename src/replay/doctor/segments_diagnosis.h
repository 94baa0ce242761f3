// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "replay/doctor/doctor.h"

namespace ebb::replay {

/// What the segments of a device tell that has no history: where every reserved byte is, at the one
/// moment when the snapshot was taken. Confidence is never high.
SnapshotDiagnosis diagnose_segments(const trace::Snapshot& snapshot, int device,
                                    const Workload& workload);

}  // namespace ebb::replay
