/* SPDX-License-Identifier: Apache-2.0 */
/* A job that is over in a moment: it announces two rounds, and a child that it forks one more. */
#include <sys/wait.h>
#include <unistd.h>

#include "ebb/ebb.h"

int main(void) {
  ebb_announce_round(0);
  ebb_announce_round(1);
  const pid_t child = fork();
  if (child == 0) {
    ebb_announce_round(2);
    _exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child) return 1;
  return status != 0;
}
