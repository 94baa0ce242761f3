// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/json.h"

namespace ebb::base {

// Bytes that are no text, in JSON: what the writer and the reader of Json share.

/// Behind the name of a member whose bytes stand beside it.
inline constexpr const char* kBytesBeside = "_base64";

/// What stands beside a member with this value; nothing where all of it is UTF-8.
std::optional<Json> bytes_beside(const Json& value);

}  // namespace ebb::base
