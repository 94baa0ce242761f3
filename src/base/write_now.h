// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string_view>

namespace ebb::base {

// Writing for those who must not wait for a reader. Neither asks for memory or raises SIGPIPE on a
// socket, and neither changes the descriptor: O_NONBLOCK would be in force for every process that
// shares it, the job of a supervisor among them.

/// Writes what there is room for at once. Bytes, or -1 and errno: EAGAIN where there is no room.
ssize_t write_now(int descriptor, std::string_view content);

/// The same, waiting for room so long and no longer. `content` becomes what is left. 0, or errno of
/// what went wrong: EAGAIN where some is left because nobody reads.
int write_within(int descriptor, std::string_view& content, int milliseconds);

}  // namespace ebb::base
