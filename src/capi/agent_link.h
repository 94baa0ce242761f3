// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "keep/cleanup.h"

namespace ebb::capi {

/// Looks for the agent of `ebb run` in this process. If there is one, it leaves its cleanups to the
/// library's cleaner from then on, which runs the hooks too except in Python: one actor per
/// process. The supervisor hears of the cleanups that the job makes by itself, whoever in this
/// library made them. Called once, when the runtime is made.
void link_with_agent(keep::Cleaner& cleaner);

/// Tells the supervisor that the job finished a round; nothing happens without one.
void announce_round(std::uint64_t number);

/// Has the supervisor write a line of this process down.
void announce_marker(const char* line);

/// Whether a supervisor is connected.
bool is_supervised();

/// This process is lost (base::fork_lost): so is its agent, which tells the supervisor.
void leave_agent();

}  // namespace ebb::capi
