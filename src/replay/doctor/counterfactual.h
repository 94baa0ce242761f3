// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "fact/diagnosis.h"
#include "replay/forecast.h"

namespace ebb::replay {

/// The recorded settings without one of these keys, e.g. "max_split_size_mb".
std::string without_key(const std::string& conf, std::string_view key);

/// The job replayed as it would have been without that cause alone: without rounding, without a
/// split size, with frees that need no waiting, with pools that share their memory, or with the
/// room that the device had. Nothing where it runs out of memory all the same, or for other causes.
std::optional<Row> replay_without(const Workload& workload, const Row& recorded,
                                  const Circumstances& circumstances, fact::Verdict cause);

}  // namespace ebb::replay
