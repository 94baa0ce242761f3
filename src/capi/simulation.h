// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace ebb::capi {

// The verbs of ebb_call that start ebb-simulate and wait for its end. Arguments: its options.
// Answers: what it prints with --json.
base::Result<base::Json> call_simulate(const base::Json& arguments);
base::Result<base::Json> call_compare(const base::Json& arguments);

}  // namespace ebb::capi
