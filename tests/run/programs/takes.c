/* SPDX-License-Identifier: Apache-2.0
 * takes STOP: every way to ask for memory, each in a function of its own that takes 12 blocks and
 * gives 6 of them back. Says "ready", and ends once the file STOP is there. What a function holds
 * at the end: 384 MiB, untouched, small() 32 MiB. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBlock = 64 << 20, kMany = 12, kSmall = 16 << 10, kSmallOnes = 4096 };

static void* volatile kept[8192];
static int count;

static void give_back_half(int from) {
  for (int i = from; i < count; i += 2) {
    free(kept[i]);
    kept[i] = NULL;
  }
}

__attribute__((noinline)) void by_posix_memalign(void) {
  const int from = count;
  for (int i = 0; i < kMany; ++i) {
    void* block = NULL;
    if (posix_memalign(&block, 256, kBlock) != 0) abort();
    kept[count++] = block;
  }
  give_back_half(from);
}

__attribute__((noinline)) void by_aligned_alloc(void) {
  const int from = count;
  for (int i = 0; i < kMany; ++i)
    kept[count++] = aligned_alloc(4096, kBlock);
  give_back_half(from);
}

__attribute__((noinline)) void by_memalign(void) {
  const int from = count;
  for (int i = 0; i < kMany; ++i)
    kept[count++] = memalign(128, kBlock);
  give_back_half(from);
}

__attribute__((noinline)) void by_realloc(void) {
  const int from = count;
  for (int i = 0; i < kMany; ++i)
    kept[count++] = realloc(malloc(kBlock / 4), kBlock);
  give_back_half(from);
}

__attribute__((noinline)) void by_mmap(void) {
  for (int i = 0; i < kMany; ++i) {
    void* block = mmap(NULL, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) abort();
    if (i % 2 == 0 && munmap(block, kBlock) != 0) abort();
    if (i % 2 != 0) kept[count++] = block;
  }
}

__attribute__((noinline)) void by_mremap(void) {
  for (int i = 0; i < kMany / 2; ++i) {
    void* block =
        mmap(NULL, kBlock / 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) abort();
    block = mremap(block, kBlock / 4, kBlock, MREMAP_MAYMOVE);
    if (block == MAP_FAILED) abort();
    kept[count++] = block;
  }
}

__attribute__((noinline)) void small(void) {
  const int from = count;
  for (int i = 0; i < kSmallOnes; ++i)
    kept[count++] = malloc(kSmall);
  give_back_half(from);
}

int main(int words, char** word) {
  small(); /* first: what comes before may make samples rare, and then it has none */
  by_posix_memalign();
  by_aligned_alloc();
  by_memalign();
  by_realloc();
  by_mmap();
  by_mremap();
  puts("ready");
  fflush(stdout);
  while (words > 1 && access(word[1], F_OK) != 0)
    usleep(20000);
  return 0;
}
