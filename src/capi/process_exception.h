// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::capi {

/// Throws std::runtime_error, made and thrown by the C++ runtime that the process shares, so that
/// its other code can catch it as its own; by this library's own where it shares none. Callers have
/// nothing to destroy and no handlers.
[[noreturn]] void throw_in_process(const char* message);

}  // namespace ebb::capi
