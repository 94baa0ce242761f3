// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ebb::base {

/// Bytes as text by RFC 4648, with '=' at the end.
std::string base64_text(std::string_view bytes);

/// And back; nothing for what base64_text() does not write.
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace ebb::base
