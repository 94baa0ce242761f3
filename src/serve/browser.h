// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace ebb::serve {

/// Opens a page as desktops do it. Where there is none, a person can: the error says why. Ignores
/// SIGCHLD from then on, since nobody waits for what it starts.
base::Status open_in_browser(const std::string& url);

}  // namespace ebb::serve
