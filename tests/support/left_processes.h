// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::support {

/// To be called in a forked child before it becomes another program: that program and all that it
/// starts end with this process at the latest, even where it is killed or its test has failed.
/// Requires: the process that forked has called end_what_is_left().
void mark_as_ours();

/// Starts what ends them, once for each process.
void end_what_is_left();

}  // namespace ebb::support
