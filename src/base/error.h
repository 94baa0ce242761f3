// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ebb::base {

/// What kind of failure; the program's exit status and Python's exception class follow from it.
enum class Code : std::uint8_t {
  bad_input,      ///< the caller or a file gave something that cannot be used
  not_found,      ///< a file, process or name that is not there
  not_permitted,  ///< there, but not ours to touch
  unavailable,    ///< this machine or build cannot do it (no GPU, no such allocator)
  out_of_memory,  ///< an allocation failed; sizes are in the message
  io,             ///< the operating system refused; `native` is errno
  internal,       ///< a bug in Ebb
};

/// The word for `code` in JSON and logs, e.g. "bad_input".
const char* name_of(Code code);

/// One failure, carried up as a value and printed at the edge.
struct Error {
  Code code = Code::internal;
  std::string message;      ///< one line: what, where, what was expected
  std::int64_t native = 0;  ///< errno or the driver's own code, 0 where there is none
};

/// Builds an Error from a printf format.
[[gnu::format(printf, 2, 3)]] Error error(Code code, const char* format, ...);

/// An Error for a failed system call: appends errno's text; ENOENT, ESRCH, EACCES and EPERM get
/// their own codes.
[[gnu::format(printf, 2, 3)]] Error system_error(int error_number, const char* format, ...);

}  // namespace ebb::base
