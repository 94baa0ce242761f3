/* SPDX-License-Identifier: Apache-2.0
 * leaks WHICH STOP: three functions that allocate; WHICH says which of them keeps what it takes (0:
 * none, 4: a burst at the beginning that is kept). Ends once the file STOP is there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlock = 48 << 10, kMost = 1 << 20 };

void* volatile kept[kMost];
static int count;

static void use(void* block, int keep) {
  memset(block, 1, kBlock);
  if (keep && count < kMost) {
    kept[count++] = block;
  } else {
    free(block);
  }
}

__attribute__((noinline)) void read_input(int keep) {
  use(malloc(kBlock), keep); /* line 23 */
}

__attribute__((noinline)) void parse_input(int keep) {
  use(calloc(kBlock, 1), keep); /* line 27 */
}

__attribute__((noinline)) void write_output(int keep) {
  use(realloc(malloc(16), kBlock), keep); /* line 31 */
}

__attribute__((noinline)) void fill_cache(void) {
  for (int i = 0; i < 1000; ++i)
    use(malloc(kBlock), 1);
}

int main(int argc, char** argv) {
  const int which = argc > 2 ? atoi(argv[1]) : 0;
  if (which == 4) fill_cache();
  while (argc > 2 && access(argv[2], F_OK) != 0) {
    for (int i = 0; i < 4; ++i) {
      read_input(which == 1);
      parse_input(which == 2);
      write_output(which == 3);
    }
    usleep(20000);
  }
  return 0;
}
