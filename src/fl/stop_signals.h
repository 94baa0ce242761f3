// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::fl {

/// From now on the first SIGINT or SIGTERM asks simulations to stop after their round; a second one
/// of either ends the process as it would have without us. One that arrives twice because it was
/// sent to a group of processes, of which one passes it on, is one: the same signal within 200 ms,
/// or within three seconds where one of the two came from the parent. `speaks`: whether to say so
/// on stderr.
void stop_on_signals(bool speaks);

/// The same as the first signal, without a line.
void ask_to_stop();

bool is_asked_to_stop();

}  // namespace ebb::fl
