/* SPDX-License-Identifier: Apache-2.0
   A library with a jemalloc of its own inside, as some Python packages ship it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int mallctlbymib(const size_t*, size_t, void*, size_t*, void*, size_t);

int private_copy_answers(void) {
  return mallctlbymib(NULL, 0, NULL, NULL, NULL, 0);
}

/* Takes so much from it and touches it; a null pointer where it cannot be had. */
void* private_copy_take(size_t size) {
  void* block = malloc(size);
  if (block != NULL) memset(block, 1, size);
  return block;
}

void private_copy_free(void* block) {
  free(block);
}
