// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::fact {

/// One call of a stack. What is not known is empty, or line 0.
struct SiteFrame {
  std::string function;
  std::string file;  ///< of the source
  std::uint32_t line = 0;
  std::string module;  ///< the program or library that it is in; empty for Python

  bool operator==(const SiteFrame&) const = default;
  bool is_python() const { return module.empty(); }
};

/// A place in the code that allocates: the calls that led to it, innermost first.
using SiteStack = std::vector<SiteFrame>;

}  // namespace ebb::fact
