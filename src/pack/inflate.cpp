// SPDX-License-Identifier: Apache-2.0
#include "pack/inflate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "pack/crc32.h"

namespace ebb::pack {
namespace {

constexpr std::size_t kWindow = 32 << 10;
constexpr std::size_t kOutput = 256 << 10;
constexpr std::size_t kLongestCopy = 258;
constexpr std::size_t kSlack = 16;  ///< copies write whole words
/// Room that one code may need beyond the point where decoding stops.
constexpr std::size_t kCapacity = kWindow + kOutput + kLongestCopy + kSlack;

constexpr const char* kEndsEarly = "the packed file ends too early";
constexpr const char* kUnknownCode = "a code that the block does not define";
constexpr const char* kUnknownDistance = "a distance that the block does not define";
constexpr const char* kTooFar = "a copy from before the beginning";

constexpr std::array<std::uint8_t, 19> kLengthOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};

/// Both ranges lie in the same buffer, which has kSlack bytes behind `into + length`.
void copy_words(char* into, const char* from, std::size_t length) {
  const char* const end = into + length;
  if (into - from >= 8) {
    do {
      std::memcpy(into, from, 8);
      into += 8;
      from += 8;
    } while (into < end);
  } else if (into - from == 1) {
    std::memset(into, *from, length);
  } else {
    while (into < end) {
      *into++ = *from++;
    }
  }
}

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> packed, std::string name)
    : in_(std::move(packed)),
      name_(std::move(name)),
      out_(std::make_unique_for_overwrite<char[]>(kCapacity)) {}

bool GzipSource::fail(const char* what) {
  failed_ = true;
  error_ = in_.failed()
               ? in_.error()
               : base::error(base::Code::bad_input, "%s: byte %llu of the packed file: %s",
                             name_.c_str(), static_cast<unsigned long long>(in_.position()), what);
  return false;
}

bool GzipSource::read_member() {
  while (any_member_ && !in_.at_end() && (in_.peek() & 0xFF) == 0) {
    static_cast<void>(in_.take(8));
  }
  if (in_.at_end() && any_member_) {
    where_ = Where::end;
    return in_.failed() ? fail(kEndsEarly) : true;
  }
  if (in_.take(16) != 0x8B1F) {
    return fail(any_member_ ? "neither gzip nor the end, expected one of them" : "not gzip");
  }
  if (in_.take(8) != 8) return fail("not packed by deflate, the only method of gzip");
  const auto flags = static_cast<unsigned>(in_.take(8));
  if ((flags & 0xE0) != 0) return fail("reserved flags of gzip are set");
  static_cast<void>(in_.take(48));  // time, hints, system
  if ((flags & 4) != 0) {
    for (std::uint64_t left = in_.take(16); left > 0 && !in_.overran(); --left) {
      static_cast<void>(in_.take(8));
    }
  }
  for (const unsigned text : {8U, 16U}) {  // file name, comment: each ends with a zero
    if ((flags & text) == 0) continue;
    while (in_.take(8) != 0 && !in_.overran()) {
    }
  }
  if ((flags & 2) != 0) static_cast<void>(in_.take(16));
  if (in_.overran()) return fail("the packed file ends inside a gzip header");
  any_member_ = true;
  member_start_ = filled_;
  crc_ = 0;
  length_ = 0;
  checked_ = filled_;
  where_ = Where::block;
  return true;
}

bool GzipSource::read_block_header() {
  last_block_ = in_.take(1) != 0;
  switch (in_.take(2)) {
    case 0: {
      in_.align();
      const std::uint64_t length = in_.take(16);
      const std::uint64_t inverse = in_.take(16);
      if (in_.overran()) return fail(kEndsEarly);
      if (length != (inverse ^ 0xFFFF)) return fail("the length of a stored block is damaged");
      stored_left_ = length;
      where_ = Where::stored;
      return true;
    }
    case 1: {
      std::array<std::uint8_t, 288> lengths{};
      std::fill(lengths.begin(), lengths.begin() + 144, std::uint8_t{8});
      std::fill(lengths.begin() + 144, lengths.begin() + 256, std::uint8_t{9});
      std::fill(lengths.begin() + 256, lengths.begin() + 280, std::uint8_t{7});
      std::fill(lengths.begin() + 280, lengths.end(), std::uint8_t{8});
      std::array<std::uint8_t, 32> distances{};
      distances.fill(5);
      literals_.build(lengths, Alphabet::literals);
      distances_.build(distances, Alphabet::distances);
      where_ = Where::codes;
      return true;
    }
    case 2:
      where_ = Where::codes;
      return read_code_lengths();
    default:
      return fail("a block of an unknown kind");
  }
}

bool GzipSource::read_code_lengths() {
  const std::size_t literal_count = 257 + in_.take(5);
  const std::size_t distance_count = 1 + in_.take(5);
  const std::size_t length_count = 4 + in_.take(4);
  if (literal_count > 286 || distance_count > 30) return fail("too many codes in a block");
  std::array<std::uint8_t, 19> order{};
  for (std::size_t i = 0; i < length_count; ++i) {
    order[kLengthOrder[i]] = static_cast<std::uint8_t>(in_.take(3));
  }
  HuffmanTable table;
  if (!table.build(order, Alphabet::code_lengths))
    return fail("impossible code lengths in a block");
  std::array<std::uint8_t, 286 + 30> lengths{};
  const std::size_t total = literal_count + distance_count;
  for (std::size_t i = 0; i < total;) {
    in_.need(14);
    const CodeRow& row = table.find(in_.peek());
    if (row.kind == CodeKind::invalid) return fail(kUnknownCode);
    static_cast<void>(in_.take(row.bits));
    if (row.base < 16) {
      lengths[i++] = static_cast<std::uint8_t>(row.base);
    } else {
      if (row.base == 16 && i == 0) return fail("a block repeats a length before the first");
      const std::uint8_t value = row.base == 16 ? lengths[i - 1] : std::uint8_t{0};
      const std::size_t repeat = row.base == 16   ? 3 + in_.take(2)
                                 : row.base == 17 ? 3 + in_.take(3)
                                                  : 11 + in_.take(7);
      if (repeat > total - i) return fail("a block has more lengths than codes");
      std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), repeat, value);
      i += repeat;
    }
    if (in_.overran()) return fail(kEndsEarly);
  }
  if (lengths[256] == 0) return fail("a block has no code for its end");
  const std::span<const std::uint8_t> all(lengths);
  if (!literals_.build(all.first(literal_count), Alphabet::literals) ||
      !distances_.build(all.subspan(literal_count, distance_count), Alphabet::distances)) {
    return fail("impossible code lengths in a block");
  }
  return true;
}

bool GzipSource::copy_stored() {
  while (stored_left_ > 0 && filled_ < kWindow + kOutput) {
    const std::size_t got =
        in_.take_bytes(out_.get() + filled_, std::min(stored_left_, kWindow + kOutput - filled_));
    if (got == 0) return fail(kEndsEarly);
    filled_ += got;
    stored_left_ -= got;
  }
  if (stored_left_ == 0) where_ = last_block_ ? Where::trailer : Where::block;
  return true;
}

/// Decodes while eight bytes of input, which end at `in_end`, are at hand and there is room. The
/// state is in local variables, which writing to the output cannot change.
bool GzipSource::decode_fast(const char* in_end) {
  BitReader::Window in = in_.window();
  const char* const in_stop = in_end - 8;
  char* out = out_.get() + filled_;
  char* const out_stop = out_.get() + kWindow + kOutput;
  const char* const start = out_.get() + member_start_;
  const char* fault = nullptr;
  while (in.at <= in_stop && out < out_stop) {
    in.refill();
    CodeRow row = literals_.find(in.bits);
    // Three literals take at most 45 of the 56 bits.
    for (int i = 0; i < 3 && row.kind == CodeKind::literal; ++i) {
      in.drop(row.bits);
      *out++ = static_cast<char>(row.base);
      row = literals_.find(in.bits);
    }
    if (row.kind == CodeKind::literal || in.at > in_stop) continue;
    in.refill();
    if (row.kind == CodeKind::invalid) {
      fault = kUnknownCode;
      break;
    }
    in.drop(row.bits);
    if (row.kind == CodeKind::end) {
      where_ = last_block_ ? Where::trailer : Where::block;
      break;
    }
    const std::size_t length = row.base + (in.bits & ((1U << row.extra) - 1));
    in.drop(row.extra);
    const CodeRow far = distances_.find(in.bits);
    if (far.kind == CodeKind::invalid) {
      fault = kUnknownDistance;
      break;
    }
    in.drop(far.bits);
    const std::size_t distance = far.base + (in.bits & ((1U << far.extra) - 1));
    in.drop(far.extra);
    if (distance > static_cast<std::size_t>(out - start)) {
      fault = kTooFar;
      break;
    }
    copy_words(out, out - distance, length);
    out += length;
  }
  in_.set_window(in);
  filled_ = static_cast<std::size_t>(out - out_.get());
  return fault == nullptr || fail(fault);
}

/// One code, and the copy that it may be.
bool GzipSource::decode_one() {
  in_.need(48);  // the longest codes and extra bits of a copy: 15 + 5 + 15 + 13
  const CodeRow row = literals_.find(in_.peek());
  if (row.kind == CodeKind::invalid) return fail(in_.overran() ? kEndsEarly : kUnknownCode);
  static_cast<void>(in_.take(row.bits));
  std::size_t length = 0;
  std::size_t distance = 0;
  if (row.kind == CodeKind::copy) {
    length = row.base + in_.take(row.extra);
    const CodeRow far = distances_.find(in_.peek());
    if (far.kind == CodeKind::invalid) return fail(kUnknownDistance);
    static_cast<void>(in_.take(far.bits));
    distance = far.base + in_.take(far.extra);
  }
  if (in_.overran()) return fail(kEndsEarly);
  if (row.kind == CodeKind::literal) {
    out_[filled_++] = static_cast<char>(row.base);
  } else if (row.kind == CodeKind::end) {
    where_ = last_block_ ? Where::trailer : Where::block;
  } else if (distance > filled_ - member_start_) {
    return fail(kTooFar);
  } else {
    copy_words(out_.get() + filled_, out_.get() + filled_ - distance, length);
    filled_ += length;
  }
  return true;
}

bool GzipSource::decode() {
  while (where_ == Where::codes && filled_ < kWindow + kOutput) {
    const char* const in_end = in_.bytes_end();
    if (!(in_end - in_.window().at >= 8 ? decode_fast(in_end) : decode_one())) return false;
  }
  return true;
}

bool GzipSource::read_trailer() {
  crc_ = crc32(crc_, out_.get() + checked_, filled_ - checked_);
  length_ += static_cast<std::uint32_t>(filled_ - checked_);
  checked_ = filled_;
  in_.align();
  const std::uint64_t crc = in_.take(32);
  const std::uint64_t length = in_.take(32);
  if (in_.overran()) return fail(kEndsEarly);
  if (crc != crc_) return fail("the checksum (CRC-32) is wrong: the file is damaged");
  if (length != length_) return fail("the length is wrong: the file is damaged");
  where_ = Where::member;
  return true;
}

bool GzipSource::step() {
  switch (where_) {
    case Where::member:
      return read_member();
    case Where::block:
      return read_block_header();
    case Where::stored:
      return copy_stored();
    case Where::codes:
      return decode();
    case Where::trailer:
      return read_trailer();
    case Where::end:
      break;
  }
  return true;
}

bool GzipSource::fill() {
  const std::size_t kept = std::min(filled_, kWindow);
  std::memmove(out_.get(), out_.get() + filled_ - kept, kept);
  member_start_ -= std::min(member_start_, filled_ - kept);
  filled_ = given_ = checked_ = kept;
  while (where_ != Where::end && filled_ < kWindow + kOutput) {
    if (!step()) return false;
  }
  crc_ = crc32(crc_, out_.get() + checked_, filled_ - checked_);
  length_ += static_cast<std::uint32_t>(filled_ - checked_);
  return true;
}

base::Result<std::size_t> GzipSource::read(char* into, std::size_t most) {
  if (given_ == filled_ && !failed_ && where_ != Where::end) fill();
  // What was decoded before the fault is given out first: a reader that is done with the file by
  // then is still told of it, since it reads to the end.
  if (given_ == filled_ && failed_) return error_;
  const std::size_t count = std::min(most, filled_ - given_);
  std::memcpy(into, out_.get() + given_, count);
  given_ += count;
  return count;
}

}  // namespace ebb::pack
