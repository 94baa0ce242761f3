// SPDX-License-Identifier: Apache-2.0
// A job that ends in a way that is known beforehand. dies MODE [FILE]: leak (1 MiB every 10 ms, for
// ever), retained (frees most of 160 MiB, between pieces that it keeps, and leaks at once when its
// agent has told so), asked (takes 96 MiB that it never writes to, then leaks), tmpfs and cache
// (writes 140 MiB or 400 MiB into FILE, then leaks), hold (takes 236 MiB, sleeps until FILE is
// there), spin (uses a processor, for ever), wait (prints "ready", sleeps). With EBB_TEST_SLOWER=N
// its leaks take N times as long, for machines that are as slow.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned slower(void) {
  const char* times = getenv("EBB_TEST_SLOWER");
  return times != NULL ? (unsigned)atoi(times) : 1;
}

__attribute__((noinline)) void leak(unsigned pause) {
  pause *= slower();
  for (;;) {
    char* piece = malloc(1 << 20);
    if (piece == NULL) abort();
    memset(piece, 1, 1 << 20);
    usleep(pause);
  }
}

/* How often the thread of Ebb's agent has begun to wait; -1 where there is none. */
static long waits_of_agent(void) {
  long waits = -1;
  DIR* tasks = opendir("/proc/self/task");
  struct dirent* task;
  while (tasks != NULL && waits < 0 && (task = readdir(tasks)) != NULL) {
    char path[300];
    char line[128];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE* status = fopen(path, "r");
    int is_agent = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
      is_agent |= strcmp(line, "Name:\tebb-agent\n") == 0;
      if (is_agent) sscanf(line, "voluntary_ctxt_switches: %ld", &waits);
    }
    if (status != NULL) fclose(status);
  }
  if (tasks != NULL) closedir(tasks);
  return waits;
}

static void retain(void) {
  enum { kPieces = 160 * 1024 };
  char** pieces = malloc(kPieces * sizeof *pieces);
  if (pieces == NULL) abort();
  for (int i = 0; i < kPieces; ++i) {
    pieces[i] = malloc(1000);
    if (pieces[i] == NULL) abort();
    memset(pieces[i], 1, 1000);
  }
  long before = -1;
  for (unsigned i = 0; i < 200 * slower() && (before = waits_of_agent()) < 0; ++i)
    usleep(10000);
  for (int i = 0; i < kPieces; ++i)
    if (i % 64 != 0) free(pieces[i]);
  // What it holds is known once the agent has been asked; a second question may come too late.
  while (before >= 0 && waits_of_agent() <= before)
    usleep(2000);
}

/// Asks for memory and leaves it alone.
__attribute__((noinline)) void ask(void) {
  static void* volatile kept;
  kept = malloc(96 << 20);
  if (kept == NULL) abort();
}

static void write_file(const char* path, int mib) {
  static char piece[1 << 20];
  const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (file < 0) abort();
  for (int i = 0; i < mib; ++i)
    if (write(file, piece, sizeof piece) != sizeof piece) abort();
  close(file);
}

static void hold(const char* until) {
  for (int i = 0; i < 236; ++i) {
    char* piece = malloc(1 << 20);
    if (piece == NULL) abort();
    memset(piece, 1, 1 << 20);
  }
  while (access(until, F_OK) != 0)
    usleep(10000);
}

int main(int count, char** words) {
  const char* mode = count > 1 ? words[1] : "";
  const char* file = count > 2 ? words[2] : "";
  if (strcmp(mode, "retained") == 0) retain();
  if (strcmp(mode, "asked") == 0) {
    ask();
    leak(10000);
  }
  if (strcmp(mode, "tmpfs") == 0) write_file(file, 140);
  if (strcmp(mode, "cache") == 0) write_file(file, 400);
  if (strcmp(mode, "hold") == 0) {
    hold(file);
    return 0;
  }
  if (strcmp(mode, "retained") == 0) leak(0);
  if (strcmp(mode, "leak") == 0 || count > 2) leak(10000);
  if (strcmp(mode, "spin") == 0) {
    for (volatile unsigned long i = 0;; ++i) {
    }
  }
  if (strcmp(mode, "wait") == 0) {
    puts("ready");
    fflush(stdout);
    for (;;)
      pause();
  }
  return 2;
}
