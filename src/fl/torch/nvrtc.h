// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// NVIDIA's compiler at run time, found when it is asked for. Once opened it stays loaded.
class Nvrtc {
 public:
  /// Where it may be: libtorch's own stands beside it and knows where the compiler is; otherwise
  /// the system's.
  static std::vector<std::string> names();

  /// The first of these that is there. Code::unavailable where none is, or where it is no compiler.
  static base::Result<Nvrtc> open(const std::vector<std::string>& names = Nvrtc::names());

  /// Machine code for a card of this kind ("sm_90"), in which no multiplication and addition is
  /// contracted. Code::unavailable where the compiler does not know the card, or the source.
  base::Result<std::vector<char>> compile(const char* source, const std::string& kind) const;

 private:
  Nvrtc() = default;

  // The part of its interface that is used; all answer 0 where all went well.
  int (*create_)(void** program, const char* source, const char* name, int headers, const char**,
                 const char**) = nullptr;
  int (*compile_)(void* program, int options, const char* const* texts) = nullptr;
  int (*size_of_)(void* program, std::size_t* bytes) = nullptr;
  int (*get_)(void* program, char* into) = nullptr;
  int (*destroy_)(void** program) = nullptr;
};

}  // namespace ebb::fl
