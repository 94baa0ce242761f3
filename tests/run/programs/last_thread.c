// SPDX-License-Identifier: Apache-2.0
// A process whose first thread ends, and then, sooner or later, all others.
//   last_thread HOW FILE
// Its last thread says "ready PID" and waits until FILE is there; then, as HOW has it, it
//   returns, or exits (pthread_exit), or ends (exit with status 3);
//   returns after three others did (several), after the first one was waited for (joins), with a
//   SIGTERM that nobody ever took (blocks), in a forked child (forks), whose status is its
//   parent's; or it returns where the first thread left the kernel, not the C library (leaves). One
//   that waits does not look for the file.
// What exit() runs says so, and needs 2 MiB of stack. Built with EBB_LIBRARY, it uses libebb.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef EBB_LIBRARY
#include "ebb/ebb.h"
#endif

static const char* how;
static const char* file;
static pthread_t first;

static int is(const char* word) {
  return strcmp(how, word) == 0;
}

static void say_goodbye(void) {
  char stack[2 << 20];
  memset(stack, is("blocks"), sizeof stack);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  const int is_deaf = sigismember(&blocked, SIGUSR2) && stack[getpid() % sizeof stack] == 0;
  printf("goodbye%s\n", is_deaf ? ", deaf" : "");
  fflush(stdout);
}

// In a process whose first thread has ended the kernel says so of the process, too.
static int has_ended(void) {
  char name[64];
  char text[512];
  snprintf(name, sizeof name, "/proc/%d/stat", (int)getpid());
  FILE* stat = fopen(name, "r");
  if (stat == NULL) return 0;
  const size_t got = fread(text, 1, sizeof text - 1, stat);
  fclose(stat);
  text[got] = '\0';
  const char* name_end = strrchr(text, ')');
  return name_end != NULL && name_end[2] == 'Z';
}

static void* other(void* unused) {
  free(malloc(1 << 20));
  return unused;
}

static void* last(void* unused) {
  if (is("joins") && pthread_join(first, NULL) != 0) exit(1);
  while (!has_ended())
    usleep(1000);
#ifdef EBB_LIBRARY
  int watching = 0;
  if (ebb_watch_pressure(&watching) != EBB_OK) exit(1);
  ebb_announce_round(1);
#endif
  free(malloc(1 << 20));
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  while (is("waits") || access(file, F_OK) != 0)
    usleep(1000);
  if (is("blocks")) kill(getpid(), SIGTERM);
  if (is("exits")) pthread_exit(NULL);
  if (is("ends")) exit(3);
  return unused;
}

static void* work(void* unused) {
  if (!is("forks")) return last(unused);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, last, NULL) != 0) exit(1);
    return unused;  // the first thread of this process
  }
  int status = 0;
  waitpid(child, &status, 0);
  exit(WIFEXITED(status) ? 10 + WEXITSTATUS(status) : WTERMSIG(status));
}

int main(int count, char** words) {
  if (count < 3) return 2;
  how = words[1];
  file = words[2];
  first = pthread_self();
  atexit(say_goodbye);
  pthread_t thread;
  if (is("blocks")) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  } else if (pthread_create(&thread, NULL, work, NULL) != 0) {
    return 1;
  }
  for (int i = 0; is("several") && i < 3; ++i)
    if (pthread_create(&thread, NULL, other, NULL) != 0) return 1;
  if (is("leaves")) syscall(SYS_exit, 0);
  pthread_exit(NULL);
}
