// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.h"

#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/plain_text.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

int write_failure = 0;  // errno of the first write that failed

}  // namespace

void answer(std::string_view text) {
  if (write_failure == 0) write_failure = base::write_all(STDOUT_FILENO, base::plain_lines(text));
}

void answer_json(const base::Json& json, bool indented) {
  answer(json.text(indented) + "\n");
}

bool is_heard() {
  return write_failure == 0;
}

int status_once_answered(int status) {
  if (write_failure == 0) return status;
  // By default SIGPIPE has ended the program before; where it is ignored, the reader's leaving is
  // no news either.
  if (write_failure != EPIPE)
    complain(base::system_error(write_failure, "cannot write the answer to stdout"));
  return kFailed;
}

}  // namespace ebb::cli
