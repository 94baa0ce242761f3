// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::capi {

/// Throws std::runtime_error, made and thrown by the C++ runtime that the process shares
/// (libstdc++.so.6), so that its other code can catch it: two runtimes cannot unwind each other's
/// frames. Callers have nothing to destroy and no handlers. In a process without that runtime
/// nobody could catch it: logs the message and aborts.
[[noreturn]] void throw_in_process(const char* message);

}  // namespace ebb::capi
