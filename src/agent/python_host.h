// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::agent {

// The interpreter of Python in this process, where there is one: found by what it exports, without
// its headers. Nothing here waits for it.

/// An interpreter runs in this process.
bool python_runs();

/// Puts the folder of the start-up hook in front of PYTHONPATH, which the program has not read
/// yet: called before main(). A launcher may have set the variable anew.
void show_hook_to_python();

/// Asks a running interpreter to start the hook, for one that ignores PYTHONPATH (-E, -I): its main
/// thread does so where it executes Python code next. False where none runs or it has no room.
bool ask_python_to_start_hook();

}  // namespace ebb::agent
