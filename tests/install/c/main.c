/* SPDX-License-Identifier: Apache-2.0 */
#include <ebb/ebb.h>
#include <stdio.h>

int main(void) {
  printf("ebb %s\n", ebb_version());
  return 0;
}
