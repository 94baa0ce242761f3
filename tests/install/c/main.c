/* SPDX-License-Identifier: Apache-2.0
   A C program against the installed library: cleans up, and prints the version if that worked. */
#include <ebb/ebb.h>
#include <stdio.h>

int main(void) {
  ebb_cleanup_report report = {0};
  report.struct_size = sizeof report;
  if (ebb_cleanup(0, &report) != EBB_OK || report.rss_after_bytes == 0) {
    fprintf(stderr, "cleanup on %s: %s\n", ebb_allocator(), ebb_last_error());
    return 1;
  }
  printf("ebb %s\n", ebb_version());
  return 0;
}
