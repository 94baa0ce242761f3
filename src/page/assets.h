// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ebb::page {

/// Script and style of every page, bundled from web/ by the build. Plain ASCII, and neither holds
/// what would end its element.
struct Assets {
  std::string_view script;
  std::string_view script_hash;  ///< as a content security policy names it: sha256-…
  std::string_view style;
  std::string_view style_hash;
};

Assets assets();

}  // namespace ebb::page
