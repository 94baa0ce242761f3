// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "replay/forecast.h"
#include "replay/ledger.h"
#include "replay/origins.h"
#include "replay/verdict.h"

namespace ebb::replay {

/// The smallest change that helps.
struct Fix {
  std::string kind = "none";  ///< none, settings, limit, memory, code
  std::string text;           ///< one sentence
  std::string conf;           ///< kind settings: the string
  std::uint64_t bytes = 0;    ///< kind limit and memory: the limit that is enough
  std::optional<Row> row;     ///< the replay in which it fits
};

struct Diagnosis {
  Verdict verdict = Verdict::healthy;
  std::vector<Verdict> also;
  /// high: proven. medium: the limit is not certain, the replay differs from the recording or from
  /// placement to placement, or no replay without the cause fits. low: no cause alone is enough.
  std::string confidence = "high";
  std::string headline;               ///< one sentence
  std::vector<std::string> findings;  ///< what it rests on, a line each
  base::Json evidence;                ///< a certificate that can be checked (docs/doctor.md)
  Fix fix;
  Ledger ledger;                ///< when the request failed, or when most was reserved
  std::uint32_t operation = 0;  ///< when that was
  std::uint64_t limit = cache::kUnlimited;
  std::vector<Origin> origins;  ///< who holds what was live then; for a leak, what is left behind
};

/// The diagnosis of one device's history. Fails on settings that PyTorch would not accept.
base::Result<Diagnosis> diagnose(const trace::Snapshot& snapshot, int device,
                                 const Workload& workload, const Circumstances& circumstances);

/// The keys verdict, also, confidence, evidence, fix, headline, findings, ledger, origins.
base::Json to_json(const Diagnosis& diagnosis);

}  // namespace ebb::replay
