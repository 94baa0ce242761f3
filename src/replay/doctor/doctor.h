// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fact/diagnosis.h"
#include "replay/doctor/device_sites.h"
#include "replay/doctor/empty_cache.h"
#include "replay/doctor/ledger.h"
#include "replay/doctor/origins.h"
#include "replay/doctor/reserved_growth.h"
#include "replay/forecast.h"

namespace ebb::replay {

/// Why a job needs more memory than it should, or ran out of it: one of fact::kSnapshotVerdicts.
/// Confidence is high where that is proven; medium where the limit is not certain, the replay
/// differs from the recording or from placement to placement, or no replay without the cause fits;
/// low where no cause alone is enough. The evidence is a certificate that can be checked
/// (docs/doctor.md).
struct SnapshotDiagnosis : fact::Diagnosis {
  std::optional<Row> fixed;     ///< the replay in which it fits, with the fix
  EmptyCacheUse empty_cache;    ///< all that the job made of it
  Ledger ledger;                ///< when the request failed, or when most was reserved
  std::uint32_t operation = 0;  ///< when that was
  std::uint64_t limit = cache::kUnlimited;
  std::optional<ReservedGrowth> growth;  ///< where every request was served, and it does grow
  DeviceSites sites;            ///< by line of the program: at that moment; for a leak, at the end
  std::vector<Origin> origins;  ///< who holds what was live then; for a leak, what is left behind
};

/// The diagnosis of one device's history; without one, of what it held when the snapshot was taken,
/// which is never certain. Fails on settings that PyTorch would not accept.
base::Result<SnapshotDiagnosis> diagnose(const trace::Snapshot& snapshot, int device,
                                         const Workload& workload,
                                         const Circumstances& circumstances);

/// What a page shows of a diagnosis.
struct DiagnosisReplays {
  std::vector<Row> rows;  ///< the recorded settings and those of the fix, as far as they replay
  Outcome moment;  ///< the first of them at the operation that it is about; none without a row
};
DiagnosisReplays replays_of(const SnapshotDiagnosis& diagnosis, const Workload& workload,
                            const Circumstances& circumstances);

/// The keys of every diagnosis, and limit_bytes, ledger, growth, origins, sites, live and the fix's
/// row.
base::Json to_json(const SnapshotDiagnosis& diagnosis);

}  // namespace ebb::replay
