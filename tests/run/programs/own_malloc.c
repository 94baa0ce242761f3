/* SPDX-License-Identifier: Apache-2.0
 * A program with an allocator linked into it, which gives nothing back. */
#include <stddef.h>
#include <string.h>

static char memory[16 << 20] __attribute__((aligned(16)));
static size_t used;

void* malloc(size_t bytes) {
  const size_t whole = (bytes + 31) / 16 * 16;
  if (whole > sizeof memory - used) return NULL;
  char* block = memory + used + 16;
  memcpy(block - 16, &bytes, sizeof bytes);
  used += whole;
  return block;
}

void free(void* block) {
  (void)block;
}

void* calloc(size_t count, size_t each) {
  return malloc(count * each); /* memory is zero from the beginning */
}

void* realloc(void* block, size_t bytes) {
  size_t before = 0;
  void* moved = malloc(bytes);
  if (block == NULL || moved == NULL) return moved;
  memcpy(&before, (char*)block - 16, sizeof before);
  return memcpy(moved, block, before < bytes ? before : bytes);
}

int main(void) {
  return 0;
}
