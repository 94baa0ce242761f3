// SPDX-License-Identifier: Apache-2.0
// Waits until the file it is given is there.
#include <unistd.h>

int main(int count, char** words) {
  while (count == 2 && access(words[1], F_OK) != 0)
    usleep(20000);
  return count == 2 ? 0 : 2;
}
