// SPDX-License-Identifier: Apache-2.0
#include "fl/names.h"

#include <string>

#include "base/text.h"

namespace ebb::fl {

base::Error unknown_name(const char* what, std::string_view name,
                         const std::vector<std::string_view>& known) {
  std::string message = std::string(what) + " '" + std::string(name.substr(0, 60)) + "': ";
  if (const auto guess = base::nearest(name, known)) {
    message += "did you mean '" + std::string(*guess) + "'?";
  } else {
    message += "expected one of ";
    for (std::size_t i = 0; i < known.size(); ++i)
      message += (i == 0 ? "" : ", ") + std::string(known[i]);
  }
  return {base::Code::bad_input, message, 0};
}

}  // namespace ebb::fl
