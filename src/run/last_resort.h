// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

// What `ebb run` does where it cannot do its work: the command runs as it would without Ebb. Other
// verbs say so and fail.

namespace ebb::run {

/// From here on `ebb run … -- COMMAND` that runs out of memory becomes the command. Where the C
/// library passes the command line to constructors, this happened before the first of them.
void arm_last_resort(int count, char** words);

/// Says "ebb: " and why in a line, and asks for no memory.
void say_without_memory(const char* why);

/// The command is about to be started: it must not be started twice.
void give_up_last_resort();

/// This process becomes the command, the last `words` words of the command line, with the signals
/// that it was started with. Says `why` in a line. Asks for no memory. Gives an exit status, as
/// shells use them, where there is no such command or it cannot be run.
int become_command(std::size_t words, const char* why);

}  // namespace ebb::run
