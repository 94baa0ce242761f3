// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::pack {

/// The CRC-32 of gzip and zip, continued: `crc` is that of the bytes before, 0 at the start.
std::uint32_t crc32(std::uint32_t crc, const char* bytes, std::size_t count);

}  // namespace ebb::pack
