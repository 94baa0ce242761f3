// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace ebb::capi {

/// The program ebb-simulate: what EBB_SIMULATE names; else beside this library or in the folder for
/// programs that goes with it; else on the PATH. Code::unavailable says how to get it.
base::Result<std::string> simulator_program();

/// The words for `verb` ("simulate" or "compare") with its options as JSON, keys with underscores:
/// {"rounds": 3, "methods": ["a", "b"], "no_folder": true}. What config.json of a run holds is
/// understood as well. Code::bad_input for what cannot be written on a command line; whether the
/// options exist the program says.
base::Result<std::vector<std::string>> simulator_words(std::string_view verb,
                                                       const base::Json& options);

}  // namespace ebb::capi
