// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"

namespace ebb::cli {

// What a verb was asked for, on stdout. Nothing else writes there but a live screen.

/// Writes a part of the answer at once; nothing any more once that has failed. Terminals do not
/// obey what others put into it.
void answer(std::string_view text);
/// JSON on a line of its own, or indented.
void answer_json(const base::Json& json, bool indented = false);

/// From here on whoever asks to leave need not wait for the reader of stdout: once there is
/// something to read at `descriptor`, it has a second for what is still to come.
void answer_until(int descriptor);

/// Whether all of it could be written so far. What would go on for long ends where it cannot.
bool is_heard();

/// What the program ends with: `status`, or kFailed with one line where the answer could not be
/// written; without the line where its reader has left.
int status_once_answered(int status);

}  // namespace ebb::cli
