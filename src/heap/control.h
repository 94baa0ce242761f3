// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "heap/detect.h"

namespace ebb::heap {

/// The address of a function in the very object that serves malloc, also where only the static
/// symbol table names it; null where that object has none. A function of the same name in another
/// object is never returned.
void* control_address(const Detection& detection, const std::string& symbol);

template <class F>
F control_function(const Detection& detection, const std::string& symbol) {
  return reinterpret_cast<F>(control_address(detection, symbol));
}

}  // namespace ebb::heap
