// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "base/result.h"

namespace ebb::fl {

/// What libtorch threw, in one line: Code::out_of_memory where memory of the host or of a card was
/// at an end, else Code::internal.
base::Error error_of(const std::exception& thrown);

/// Runs `body`, which returns a Result or a Status; an exception becomes an Error.
template <class Body>
auto without_exceptions(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& thrown) {
    return error_of(thrown);
  }
}

}  // namespace ebb::fl
