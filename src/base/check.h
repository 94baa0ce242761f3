// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::base {

/// Prints the broken invariant and its place on stderr and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace ebb::base

/// A broken invariant is a bug in Ebb, never bad input: print it and abort, in every build.
#define EBB_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::ebb::base::check_failed(#condition, __FILE__, __LINE__))
