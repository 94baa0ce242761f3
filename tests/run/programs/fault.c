// SPDX-License-Identifier: Apache-2.0
// Preloaded into `ebb`: once the file $EBB_TEST_FAULT is there, its next poll() is a real fault.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int poll(struct pollfd* sources, nfds_t count, int timeout) {
  const char* file = getenv("EBB_TEST_FAULT");
  if (file != NULL && strcmp(program_invocation_short_name, "ebb") == 0 && access(file, F_OK) == 0)
    *(volatile int*)8 = 0;
  const struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
  return ppoll(sources, count, timeout < 0 ? NULL : &time, NULL);
}
