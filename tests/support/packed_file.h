// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pack/byte_source.h"

namespace ebb::support {

/// What a file of the tests holds, unpacked where it is gzip. Fails the current test where it
/// cannot be read.
inline std::string text_of(const std::string& path) {
  auto source = pack::open_source(path);
  EXPECT_TRUE(source) << path;
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (source) {
    const auto read = (*source)->read(chunk.data(), chunk.size());
    EXPECT_TRUE(read) << path;
    if (!read || *read == 0) break;
    text.append(chunk.data(), *read);
  }
  return text;
}

}  // namespace ebb::support
