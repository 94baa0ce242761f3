/* SPDX-License-Identifier: Apache-2.0
   A library that defines the name by which NVFlare knows jemalloc, and is not jemalloc. */
#include <stddef.h>

int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size) {
  (void)name;
  (void)old_value;
  (void)old_size;
  (void)new_value;
  (void)new_size;
  return 0;
}
