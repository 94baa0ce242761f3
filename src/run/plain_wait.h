// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/launch.h"
#include "run/signals.h"

namespace ebb::run {

/// What is left of supervision where memory has run out: waits until the command has ended, passes
/// signals on to it and reaps whatever ends before. Asks for no memory.
Ending wait_plainly(pid_t command, const Signals& signals) noexcept;

}  // namespace ebb::run
