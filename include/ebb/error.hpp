// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "ebb/ebb.h"

// Part of ebb.hpp, which is what to include.

namespace ebb {

/// A call that failed: what() is the library's message, code() its ebb_code.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

namespace detail {
inline void check(int code) {
  if (code != EBB_OK) throw Error(code, ebb_last_error());
}

/// A copy of what the library handed out.
inline std::string text(int code, char* owned) {
  check(code);
  const std::unique_ptr<char, decltype(&ebb_free)> given(owned, ebb_free);
  return given.get();
}
}  // namespace detail

}  // namespace ebb
