/* SPDX-License-Identifier: Apache-2.0 */
/* Closes every descriptor but the first three, as daemons do, opens files in their places and looks
   for a while whether anybody else writes into them. Exits with the number of bytes found. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kFirst = 3, kLast = 1023 };

int main(int count, char** words) {
  if (count < 2) return 99;
  int (*is_supervised)(void);
  *(void**)&is_supervised = dlsym(RTLD_DEFAULT, "ebb_agent_is_supervised");
  if (is_supervised == 0) return 97;
  for (int i = 0; !is_supervised(); ++i) {
    if (i == 6000) return 96;
    usleep(20 * 1000);
  }
  for (int descriptor = kFirst; descriptor <= kLast; ++descriptor)
    close(descriptor);
  for (int descriptor = kFirst; descriptor <= kLast; ++descriptor) {
    const int opened = open(words[1], O_RDWR | O_CREAT | O_APPEND, 0600);
    if (opened < 0) break;
  }
  for (int i = 0; i < 20; ++i)
    usleep(100 * 1000);
  struct stat status;
  if (stat(words[1], &status) != 0) return 98;
  return status.st_size > 90 ? 90 : (int)status.st_size;
}
