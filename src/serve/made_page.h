// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "serve/http.h"

namespace ebb::serve {

/// A page that is ready to be sent.
struct MadePage {
  std::string title;
  std::string json;      ///< the document
  std::string revision;  ///< another one is another document
  bool live = false;     ///< it goes on changing, and asks for what is newer
};

/// The whole page, as a browser shows it.
Answer html_of(const MadePage& page, int status = 200);

}  // namespace ebb::serve
