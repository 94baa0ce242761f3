// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ebb/ebb.h"

namespace ebb {

/// The library's version, e.g. "0.1.0".
inline std::string_view version() {
  return ebb_version();
}

}  // namespace ebb
