// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::cli {

/// Whether these words are for the program ebb-simulate.
bool names_the_simulator(int count, char** words);

/// Whether ebb-simulate lies beside this program.
bool has_simulator();

/// Becomes ebb-simulate, which lies beside this program, with the same words. Returns, with the
/// exit status, only where it cannot.
int start_simulator(char** words);

/// Sets what keep::simulator_environment finds lacking. True where something was changed.
bool set_simulator_environment();

}  // namespace ebb::cli
