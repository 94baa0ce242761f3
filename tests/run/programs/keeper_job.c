/* SPDX-License-Identifier: Apache-2.0 */
/* A job that uses libebb itself: a hook, and a keeper over three rounds. Prints whether it is
   supervised, whether its hook was called for a cleanup that it did not do itself, and how many of
   its rounds cleaned up themselves: one that finds a cleanup under way shares it. */
#include <stdio.h>
#include <unistd.h>

#include "ebb/ebb.h"

static int calls = 0;

static int hook(void* context, uint64_t* count) {
  (void)context;
  *count = 1;
  __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  return 0;
}

int main(void) {
  if (ebb_hook_add("counter", EBB_STAGE_CACHE, hook, 0, 0) != EBB_OK) return 1;
  for (int i = 0; i < 2400 && !ebb_is_supervised(); ++i)
    usleep(50 * 1000);
  for (int i = 0; i < 2400 && __atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 0; ++i)
    usleep(50 * 1000);
  const int by_supervisor = __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
  ebb_keeper_options options = {sizeof options, "server", EBB_ROUNDS_EVERY, 1, -1};
  ebb_keeper* keeper = 0;
  if (ebb_keeper_create(&options, &keeper) != EBB_OK) return 2;
  int own = 0;
  int shared = 0;
  for (uint64_t round = 0; round < 3; ++round) {
    int cleaned = 0;
    ebb_cleanup_report report = {.struct_size = sizeof report};
    if (ebb_keeper_numbered_round_done(keeper, round, &cleaned, &report) != EBB_OK) return 3;
    own += cleaned && !report.coalesced;
    shared += cleaned && report.coalesced;
  }
  if (own + shared != 3) return 4;
  ebb_keeper_destroy(keeper);
  ebb_announce_round(3);
  printf("%d %d %d\n", ebb_is_supervised(), by_supervisor > 0, own);
  return 0;
}
