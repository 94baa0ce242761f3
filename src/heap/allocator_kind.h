// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ebb::heap {

/// The malloc implementations that Ebb tells apart.
enum class AllocatorKind : std::uint8_t { glibc, jemalloc, tcmalloc, mimalloc, musl, unknown };

/// "glibc", "jemalloc", … as it stands in JSON and on the command line.
const char* name_of(AllocatorKind kind);

/// The kind that a user named, or nothing.
std::optional<AllocatorKind> allocator_kind_from(std::string_view name);

/// NVFlare's vocabulary, which has three words: everything but glibc and jemalloc is "unknown".
const char* nvflare_name_of(AllocatorKind kind);

}  // namespace ebb::heap
