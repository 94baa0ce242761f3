// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ebb::agent {

/// Counts from now on what Python's allocator of small objects takes from the system, by standing
/// in front of the allocator of its arenas (PyObject_SetArenaAllocator), which is asked a few times
/// per MiB. To be called with the interpreter's lock held, soon after it has started: arenas that
/// are there already are not counted. False where there is no such interpreter.
bool count_python_arenas();

/// In bytes, of arenas that are mapped now; nothing where nobody counts. Any thread may ask.
std::optional<std::uint64_t> python_arenas();

}  // namespace ebb::agent
