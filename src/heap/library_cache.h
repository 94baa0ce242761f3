// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::heap {

/// One library that ldconfig knows.
struct CachedLibrary {
  std::string soname;
  std::string path;
};

/// Reads the bytes of /etc/ld.so.cache (glibc's format 1.1, also behind the old libc5 part).
/// Code::bad_input for anything else; never reads outside the bytes.
base::Result<std::vector<CachedLibrary>> parse_library_cache(std::string_view bytes);

}  // namespace ebb::heap
