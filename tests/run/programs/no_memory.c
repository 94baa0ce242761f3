// SPDX-License-Identifier: Apache-2.0
// Preloaded into `ebb`: from the allocation on that $EBB_TEST_ALLOCATION names, malloc gives
// nothing any more. Then $EBB_TEST_REACHED is there.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

static long count;

static int fails(void) {
  static long first;
  if (first == 0) {
    const char* chosen = getenv("EBB_TEST_ALLOCATION");
    first = chosen != NULL && strcmp(program_invocation_short_name, "ebb") == 0 ? atol(chosen) : -1;
  }
  if (first < 0) return 0;
  const long now = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
  if (now < first) return 0;
  if (now == first) close(open(getenv("EBB_TEST_REACHED"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t bytes) {
  return fails() ? NULL : __libc_malloc(bytes);
}

void* calloc(size_t number, size_t bytes) {
  return fails() ? NULL : __libc_calloc(number, bytes);
}

void* realloc(void* memory, size_t bytes) {
  return fails() ? NULL : __libc_realloc(memory, bytes);
}
