// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "keep/cleanup.h"

namespace ebb::capi {

/// Finds the agent that this process may have been started with (`ebb run`) and puts the library's
/// cleaner, hooks included, in its place: one actor per process. Once, with the library.
void link_with_agent(keep::Cleaner& cleaner);

/// Tells the supervisor that the job finished a round; nothing happens without one.
void announce_round(std::uint64_t number);

/// Tells the supervisor what a cleanup of the job's own did.
void announce_cleanup(const keep::CleanupReport& report);

/// Whether a supervisor is connected.
bool is_supervised();

}  // namespace ebb::capi
