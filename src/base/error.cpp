// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>
#include <cstdarg>
#include <system_error>

#include "base/text.h"

namespace ebb::base {

const char* name_of(Code code) {
  switch (code) {
    case Code::bad_input:
      return "bad_input";
    case Code::not_found:
      return "not_found";
    case Code::not_permitted:
      return "not_permitted";
    case Code::unavailable:
      return "unavailable";
    case Code::out_of_memory:
      return "out_of_memory";
    case Code::io:
      return "io";
    case Code::internal:
      return "internal";
  }
  return "internal";
}

Error error(Code code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Error result{code, format_text_v(format, arguments), 0};
  va_end(arguments);
  return result;
}

Error system_error(int error_number, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string message = format_text_v(format, arguments);
  va_end(arguments);
  message += ": " + std::generic_category().message(error_number);
  Code code = Code::io;
  if (error_number == ENOENT || error_number == ESRCH) code = Code::not_found;
  if (error_number == EACCES || error_number == EPERM) code = Code::not_permitted;
  return Error{code, std::move(message), error_number};
}

}  // namespace ebb::base
