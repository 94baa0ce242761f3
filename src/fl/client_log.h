// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/sha256.h"

namespace ebb::fl {

/// More clients than this are kept in a file of their own beside the checkpoint, which else has
/// them itself.
inline constexpr std::uint32_t kMostClientsInCheckpoint = 10'000;

/// A file beside the checkpoint that only grows: each checkpoint adds what has changed since the
/// one before, and binds the file up to there. What lies behind is of rounds that no checkpoint
/// has, and is written over. Not thread-safe.
class ClientLog {
 public:
  /// Nothing is opened yet; "" is no file, and nothing is ever added.
  explicit ClientLog(std::string path) : path_(std::move(path)) {}

  bool is_open() const { return !path_.empty(); }

  /// On disk before it returns. Code::bad_input where `path` is no file.
  base::Status add(std::string_view records);

  /// What binds everything added until now to a checkpoint.
  base::Json seal() const;

  /// All that was added until `seal`; the next records come after it. Code::bad_input where it is
  /// not there as it was written.
  base::Result<std::string> take(const base::Json& seal);

 private:
  std::string path_;
  std::uint64_t bytes_ = 0;
  base::Sha256 hash_;
};

}  // namespace ebb::fl
