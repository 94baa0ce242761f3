// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/file.h"
#include "base/plain_text.h"
#include "base/write_now.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

constexpr int kPatienceMs = 1000;  // once somebody wants to leave

int write_failure = 0;    // errno of the first write that failed
int asked_to_leave = -1;  // what says so, where somebody may

/// Waits for a reader until there is a reason to leave. 0, or errno; EAGAIN where nobody reads.
int write_until_left(std::string_view rest) {
  while (true) {
    const int failure = base::write_within(STDOUT_FILENO, rest, 0);
    if (failure != EAGAIN) return failure;
    pollfd sources[] = {{STDOUT_FILENO, POLLOUT, 0}, {asked_to_leave, POLLIN, 0}};
    if (::poll(sources, 2, -1) < 0 && errno != EINTR) return errno;
    if (sources[1].revents != 0) return base::write_within(STDOUT_FILENO, rest, kPatienceMs);
  }
}

}  // namespace

void answer(std::string_view text) {
  if (write_failure != 0) return;
  const std::string plain = base::plain_lines(text);
  write_failure =
      asked_to_leave < 0 ? base::write_all(STDOUT_FILENO, plain) : write_until_left(plain);
}

void answer_until(int descriptor) {
  asked_to_leave = descriptor;
}

void answer_json(const base::Json& json, bool indented) {
  answer(json.text(indented) + "\n");
}

bool is_heard() {
  return write_failure == 0;
}

int status_once_answered(int status) {
  if (write_failure == 0) return status;
  if (write_failure == EAGAIN) {
    say("nobody reads stdout: the answer ends where it is full");
    return kFailed;
  }
  // By default SIGPIPE has ended the program before; where it is ignored, the reader's leaving is
  // no news either.
  if (write_failure != EPIPE)
    complain(base::system_error(write_failure, "cannot write the answer to stdout"));
  return kFailed;
}

}  // namespace ebb::cli
