// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/text.h"

namespace ebb::sense {

/// `text` as the number of a process; Code::bad_input names `what` it was given for.
inline base::Result<pid_t> parse_pid(const std::string& text, const char* what) {
  const auto number = base::parse_unsigned(text);
  if (number && *number > 0 && *number <= INT32_MAX) return static_cast<pid_t>(*number);
  return base::error(base::Code::bad_input, "%s '%s': expected the number of a process", what,
                     text.c_str());
}

}  // namespace ebb::sense
