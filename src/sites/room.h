// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace ebb::sites {

/// What all tables of a run may take together (room_share.h), as the supervisor sees it. The job is
/// not trusted: the file is read and written, never mapped.
class Room {
 public:
  /// Makes the file for tables that may take `most` bytes together; at least one has room.
  static base::Result<Room> make(const std::string& folder, std::uint64_t most);

  /// A table that took so much is gone.
  void give_back(std::uint64_t bytes);
  /// Processes without a table so far.
  std::uint64_t refused() const;
  std::uint64_t most() const { return most_; }

 private:
  Room(std::string path, std::uint64_t most) : path_(std::move(path)), most_(most) {}

  std::string path_;
  std::uint64_t most_;
  std::uint64_t given_back_ = 0;
};

}  // namespace ebb::sites
