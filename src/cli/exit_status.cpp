// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/plain_text.h"
#include "cli/verb.h"

namespace ebb::cli {

int status_of(base::Code code) {
  switch (code) {
    case base::Code::bad_input:
    case base::Code::not_found:
      return kBadInput;
    case base::Code::not_permitted:
    case base::Code::unavailable:
      return kNotAvailable;
    case base::Code::out_of_memory:
    case base::Code::io:
    case base::Code::internal:
      return kFailed;
  }
  return kFailed;
}

void say(const std::string& line) {
  constexpr std::size_t kLongest = 2000;
  std::fprintf(stderr, "ebb: %s\n", base::plain_line(line, kLongest).c_str());
}

}  // namespace ebb::cli
