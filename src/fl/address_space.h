// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace ebb::fl {

/// What a process may map, or needs: of addresses (RLIMIT_AS), and of private memory that can be
/// written (RLIMIT_DATA).
struct Mappings {
  std::uint64_t space = 0;
  std::uint64_t data = 0;
};

/// Under a limit of the address space (ulimit -v) or of writable memory (-d) libraries of a
/// simulation may ask or wait for ever for what they cannot map. So ebb-simulate is first run for
/// one step, as a process of its own for a bounded time, without the limit where that is permitted.
/// Code::bad_input, with limit and need, where a simulation with these words does not fit; nothing
/// is started then. Nothing is done where there is no limit, or where this was checked before this
/// program was started.
base::Status check_address_space(const char* simulator, char** words);

/// Where this process is such a trial: the descriptor that its need is to be written to.
std::optional<int> trial_descriptor();

/// What a trial found, in bytes, or that memory ran out. Whatever else is wrong, the simulation
/// itself says, in its own words: it takes nothing then.
void tell_need(int descriptor, const base::Result<Mappings>& need);

}  // namespace ebb::fl
