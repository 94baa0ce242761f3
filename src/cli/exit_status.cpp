// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "base/plain_text.h"
#include "base/write_now.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

constexpr std::size_t kLongest = 2000;

}  // namespace

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
  std::fprintf(stderr, "ebb: %s\n", base::plain_line(line, kLongest).c_str());
}

void say_now(const std::string& line) {
  constexpr int kNoticeMs = 100;
  const std::string whole = "ebb: " + base::plain_line(line, kLongest) + "\n";
  std::string_view rest = whole;
  base::write_within(STDERR_FILENO, rest, kNoticeMs);
}

}  // namespace ebb::cli
