// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace ebb::capi {

/// A member of the arguments as text, or a default; Code::bad_input where it is something else.
base::Result<std::string> text_argument(const base::Json& arguments, const char* key,
                                        const char* otherwise);

// The verbs of ebb_call about a recorded job. Arguments: `snapshot` (a file or a list of them),
// `cap`, `torch_version`, `driver_model`, `device`, all as on the command line; `conf` (one or a
// list) for replay, `objective` for tune. Answers: what the program prints with --json.
base::Result<base::Json> call_replay(const base::Json& arguments);
base::Result<base::Json> call_tune(const base::Json& arguments);
base::Result<base::Json> call_doctor(const base::Json& arguments);

}  // namespace ebb::capi
