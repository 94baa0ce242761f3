// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// What `ebb run` does where it cannot do its work: the command runs as it would without Ebb.

namespace ebb::cli {

/// From the start of the program on, `ebb run … -- COMMAND` that runs out of memory becomes the
/// command. Until this is called: the command is about to be started.
void give_up_last_resort();

/// This process becomes the command, the last `words` words of the command line, with the signals
/// that it was started with. Says `why` in a line. Asks for no memory. Gives an exit status, as
/// shells use them, where there is no such command or it cannot be run.
int become_command(std::size_t words, const char* why);

}  // namespace ebb::cli
