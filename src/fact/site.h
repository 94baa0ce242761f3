// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

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

/// The innermost call in Python; null where there is none.
const SiteFrame* python_frame(const SiteStack& frames);

/// The call that a person would look at: in Python the innermost of the job's own files if it is
/// near, else the innermost that is not PyTorch's own; without Python the innermost that is no
/// allocator's and no container's; null where no call has a name.
const SiteFrame* telling_frame(const SiteStack& frames);

/// Whether it is a line of PyTorch itself, which calls itself many times over before it allocates
/// what a line of the job asked for.
bool is_of_torch(const SiteFrame& frame);

/// "loader.py:42 load_batch", "parse (libfoo.so)", "libfoo.so, no symbols", "unknown code".
std::string text_of(const SiteFrame& frame);
std::string place_of(const SiteStack& frames);

/// All of its calls: the same for stacks whose calls return to different instructions of a line.
std::string reading_of(const SiteStack& frames);

/// A list of {function, file, line, module}, innermost first; null where something is not known.
base::Json to_json(const SiteStack& frames);

}  // namespace ebb::fact
