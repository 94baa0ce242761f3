// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

// The program ebb-simulate, which lies beside ebb, so that ebb links no libtorch.

namespace ebb::fl {

/// Whether it lies beside this program.
bool has_simulator();

/// This process becomes ebb-simulate, with the same words. Returns only where it cannot, with the
/// reason.
base::Error become_simulator(char** words);

/// Sets what keep::simulator_environment finds lacking. True where something was changed.
bool set_simulator_environment();

}  // namespace ebb::fl
