// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ebb::fact {

/// How a recorded run came to its end. The names are in records and in JSON.
enum class RunEnd : std::uint8_t {
  unknown,        ///< it has not, or nobody saw it
  exit,           ///< the command ended by itself
  signal,         ///< it was killed, and not for the reasons below
  out_of_memory,  ///< the kernel killed it
  stopped,        ///< by Ebb, when memory was critical
};

/// "exit", "signal", …; "" for unknown.
const char* name_of(RunEnd end);

/// unknown for a name that none has.
RunEnd run_end_from(std::string_view name);

}  // namespace ebb::fact
