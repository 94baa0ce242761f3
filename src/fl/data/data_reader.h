// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pack/byte_source.h"

namespace ebb::fl {

/// Reads a data file in order and knows where it is, so that every message can say so. The source
/// outlives it. Not thread-safe.
class DataReader {
 public:
  DataReader(pack::ByteSource& source, std::string name)
      : source_(source), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// Bytes read so far, of the unpacked file.
  std::uint64_t offset() const { return offset_; }

  /// Fills `into` as far as the file goes, and says how far.
  base::Result<std::size_t> read(std::span<std::uint8_t> into);

  /// Appends exactly `count` bytes to `bytes`; messages call them `what`. Takes no more
  /// memory than the file has bytes, whatever `count` claims. Code::bad_input where the file ends
  /// early or cannot hold so much, Code::out_of_memory where there is no room.
  base::Status append(std::vector<std::uint8_t>& bytes, std::uint64_t count, const char* what);

  /// Code::bad_input where anything follows.
  base::Status expect_end();

 private:
  pack::ByteSource& source_;
  std::string name_;
  std::uint64_t offset_ = 0;
};

/// Makes room for `count` more bytes without touching it. Code::out_of_memory names the file and
/// the size.
base::Status reserve(std::vector<std::uint8_t>& bytes, std::uint64_t count,
                     const std::string& name);

/// The same where more may follow: grows by half at least, so that it seldom has to.
base::Status make_room(std::vector<std::uint8_t>& bytes, std::uint64_t count,
                       const std::string& name);

}  // namespace ebb::fl
