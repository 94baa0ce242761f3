/* SPDX-License-Identifier: Apache-2.0
   A library with a jemalloc of its own inside, as some Python packages ship it. */
#include <stddef.h>

int mallctlbymib(const size_t*, size_t, void*, size_t*, void*, size_t);

int private_copy_answers(void) {
  return mallctlbymib(NULL, 0, NULL, NULL, NULL, 0);
}
