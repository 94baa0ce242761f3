// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ebb::page {

/// Text for between two tags or inside a quoted attribute. The result is UTF-8 whatever comes in:
/// each byte that belongs to no character becomes U+FFFD, and so does NUL.
std::string html_text(std::string_view text);

/// JSON for inside a <script> element. The value stays the same, but no character of it can end the
/// element, open a comment in it or break a line of script; invalid UTF-8 becomes U+FFFD.
/// Requires: `json` is JSON text, except that its encoding need not be valid.
std::string script_json(std::string_view json);

}  // namespace ebb::page
