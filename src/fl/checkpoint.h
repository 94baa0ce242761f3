// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace ebb::fl {

/// The state of a simulation between two rounds: a JSON object, and arrays of bytes that are as
/// large as the model. On disk: a line that names the format, the length of the JSON, the JSON, the
/// arrays, and the SHA-256 of all before it.
struct Checkpoint {
  base::Json header;
  std::vector<std::vector<std::byte>> arrays;
};

/// A few times the size of a model.
constexpr std::uint64_t kMostCheckpointBytes = 64ULL << 30;

/// As one string of bytes, written from arrays that stay where they are.
std::string pack_checkpoint(const base::Json& header,
                            std::span<const std::span<const std::byte>> arrays);

/// Code::bad_input where a bit differs from what was packed; `name` begins the message.
base::Result<Checkpoint> unpack_checkpoint(std::string_view bytes, const std::string& name);

}  // namespace ebb::fl
