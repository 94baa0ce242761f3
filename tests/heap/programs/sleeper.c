/* SPDX-License-Identifier: Apache-2.0
   Allocates a little and waits until its input closes: somebody to be looked at from outside. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  void* volatile block = malloc(100000);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  free(block);
  return 0;
}
