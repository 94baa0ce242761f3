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

namespace ebb::replay {

/// Why a job needs more memory than it should, or ran out of it. In order of precedence.
enum class Verdict : std::uint8_t {
  capacity,        ///< what is live does not fit
  fragmentation,   ///< enough is free, in pieces
  rounding,        ///< requests rounded up
  oversize,        ///< blocks above max_split_size_mb handed out whole
  deferred_frees,  ///< freed, but other streams still use it
  private_pools,   ///< free, but only for the pool of a graph or of the job's own
  self_limit,      ///< the device had more: the job limited itself
  cache,           ///< free as a whole: empty_cache would return it
  leak,            ///< live bytes rise from step to step
  healthy,
};
inline constexpr std::size_t kVerdicts = 10;

/// "capacity", "fragmentation", …
const char* name_of(Verdict verdict);
std::optional<Verdict> verdict_of(std::string_view name);

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
  std::string confidence = "high";  ///< high: proven; medium: the largest of several; low: a guess
  std::string headline;             ///< one sentence
  std::vector<std::string> findings;  ///< what it rests on, a line each
  base::Json evidence;                ///< a certificate that can be checked (docs/doctor.md)
  Fix fix;
  Ledger ledger;  ///< when the request failed, or when most was reserved
  std::uint32_t operation = 0;
  std::uint64_t limit = cache::kUnlimited;
  std::vector<Origin> origins;  ///< who holds what was live then
};

/// The diagnosis of one device's history. Fails on settings that PyTorch would not accept.
base::Result<Diagnosis> diagnose(const trace::Snapshot& snapshot, int device,
                                 const Workload& workload, const Circumstances& circumstances);

/// The keys verdict, also, confidence, evidence, fix, headline, findings, ledger, origins.
base::Json to_json(const Diagnosis& diagnosis);

}  // namespace ebb::replay
