// SPDX-License-Identifier: Apache-2.0
// A process whose first thread ends while another works on: it holds 64 MiB until FILE is there,
// and ends with status 7.
//   first_thread_ends FILE [leaves|ignores]
// leaves: a child does so, and the command itself ends at once. ignores: SIGTERM does not end it.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* file;

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

static void* work(void* unused) {
  (void)unused;
  enum { kBytes = 64 << 20 };
  char* memory = malloc(kBytes);
  if (memory == NULL) exit(1);
  memset(memory, 1, kBytes);
  while (!has_ended())
    usleep(1000);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  while (access(file, F_OK) != 0)
    usleep(20000);
  const int status = memory[kBytes / 2] == 1 ? 7 : 1;
  free(memory);
  exit(status);
}

int main(int count, char** words) {
  if (count < 2) return 2;
  file = words[1];
  const char* how = count > 2 ? words[2] : "";
  if (strcmp(how, "ignores") == 0) signal(SIGTERM, SIG_IGN);
  if (strcmp(how, "leaves") == 0 && fork() != 0) return 6;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_exit(NULL);
}
