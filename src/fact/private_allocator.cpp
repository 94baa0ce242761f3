// SPDX-License-Identifier: Apache-2.0
#include "fact/private_allocator.h"

namespace ebb::fact {

std::string name_of(const PrivateAllocator& allocator) {
  return allocator.library + " (" + allocator.kind + ")";
}

}  // namespace ebb::fact
