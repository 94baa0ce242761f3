// SPDX-License-Identifier: Apache-2.0
// Prints every signal that it gets, with the value that came along; ends with 7 at a SIGTERM.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>

int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  puts("ready");
  fflush(stdout);
  for (;;) {
    siginfo_t signal;
    if (sigwaitinfo(&all, &signal) < 0) continue;
    const int value = signal.si_code == SI_QUEUE ? signal.si_value.sival_int : 0;
    printf("%d %d\n", signal.si_signo, value);
    fflush(stdout);
    if (signal.si_signo == SIGTERM) return 7;
  }
}
