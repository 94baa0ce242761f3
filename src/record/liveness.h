// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ebb::record {

/// What this machine calls itself.
std::string this_host();

/// This process, so that a reader can ask later whether it is still there: the boot, the pid
/// namespace, the pid and its start time.
std::string this_writer();

/// Whether the process that `writer` names is still there; nothing where that cannot be seen from
/// here (another machine, another container).
std::optional<bool> is_there(const std::string& writer);

/// Whether the machine was started anew since `writer` wrote; nothing where that is not known.
std::optional<bool> was_restarted_since(const std::string& writer);

}  // namespace ebb::record
