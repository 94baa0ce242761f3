// SPDX-License-Identifier: Apache-2.0
#include "ebb/ebb.h"

const char* ebb_version(void) {
  return EBB_VERSION;
}
