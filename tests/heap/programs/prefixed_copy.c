/* SPDX-License-Identifier: Apache-2.0
   A library that exports an allocator under mimalloc's names with a prefix of its own, as Arrow
   does. Like mimalloc it gives back nothing on a thread that never took anything. And a name that
   only ends so. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { kBlock = 64 << 20 };

static __thread int has_allocated;
static void* kept;

void* tiny_mi_malloc_aligned(size_t size, size_t alignment) {
  static char small[64];
  (void)size;
  (void)alignment;
  has_allocated = 1;
  return small;
}

void tiny_mi_free(void* block) {
  (void)block;
}

void tiny_mi_collect(_Bool force) {
  if (!force || !has_allocated || kept == NULL) return;
  munmap(kept, kBlock);
  kept = NULL;
}

/* What a job would do with it: takes much, frees it, and the library keeps it. */
void tiny_work(void) {
  kept = mmap(NULL, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (kept != MAP_FAILED) memset(kept, 1, kBlock);
}

void semi_collect(void) {}
void semi_free(void* block) {
  (void)block;
}
