// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "pack/bit_reader.h"
#include "pack/byte_source.h"
#include "pack/huffman.h"

namespace ebb::pack {

/// Unpacks gzip (RFC 1952, deflate of RFC 1951) as it is read, in about 400 KiB of memory whatever
/// the file says. Members one after another are one stream; zeros may follow the last. Checks the
/// CRC and length of each. Every failure is bad_input with the offset in the packed file.
class GzipSource final : public ByteSource {
 public:
  /// `name` begins the messages.
  GzipSource(std::unique_ptr<ByteSource> packed, std::string name);

  base::Result<std::size_t> read(char* into, std::size_t most) override;
  std::uint64_t done() const override { return in_.source().done(); }
  std::uint64_t total() const override { return in_.source().total(); }

 private:
  enum class Where : std::uint8_t { member, block, stored, codes, trailer, end };

  bool fill();
  bool step();
  bool read_member();
  bool read_block_header();
  bool read_code_lengths();
  bool copy_stored();
  bool decode();
  bool decode_fast(const char* in_end);
  bool decode_one();
  bool read_trailer();

  bool fail(const char* what);

  BitReader in_;
  std::string name_;
  base::Error error_;
  bool failed_ = false;

  std::unique_ptr<char[]> out_;  ///< up to 32 KiB that were given out, then what was not
  std::size_t given_ = 0;
  std::size_t filled_ = 0;

  Where where_ = Where::member;
  bool any_member_ = false;
  bool last_block_ = false;
  std::size_t stored_left_ = 0;
  std::size_t member_start_ = 0;  ///< where this member begins in `out_`: copies stay behind it
  std::size_t checked_ = 0;       ///< bytes of `out_` that are in `crc_`
  std::uint32_t crc_ = 0;
  std::uint32_t length_ = 0;
  HuffmanTable literals_;
  HuffmanTable distances_;
};

}  // namespace ebb::pack
