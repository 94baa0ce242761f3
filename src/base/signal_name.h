// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ebb::base {

/// What a signal is called, e.g. SIGKILL; empty for one without a name, as real-time signals are.
/// Older C libraries cannot tell: glibc has had sigabbrev_np since 2.32.
std::string signal_name(int signal);

}  // namespace ebb::base
