// SPDX-License-Identifier: Apache-2.0
#include "fl/checkpoint.h"

#include <cstring>

#include "base/sha256.h"

namespace ebb::fl {
namespace {

constexpr std::string_view kFormat = "ebb simulation 2\n";
/// The same, without what a card's arithmetic depends on.
constexpr std::string_view kEarlierFormat = "ebb simulation 1\n";
constexpr std::size_t kDigestBytes = 32;

void append(std::string& out, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    out += static_cast<char>(number >> shift & 0xff);
}

/// Takes pieces off the front of bytes that are not trusted.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool take(std::size_t count, std::string_view& piece) {
    if (count > left_.size()) return false;
    piece = left_.substr(0, count);
    left_.remove_prefix(count);
    return true;
  }
  bool number(std::uint64_t& value) {
    std::string_view piece;
    if (!take(8, piece)) return false;
    value = 0;
    for (std::size_t i = 0; i < 8; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(piece[i])} << (8 * i);
    return true;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

std::string digest_of(std::string_view bytes) {
  base::Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  const base::Sha256::Digest digest = hash.finish();
  return std::string(digest.begin(), digest.end());
}

}  // namespace

std::string pack_checkpoint(const base::Json& header,
                            std::span<const std::span<const std::byte>> arrays) {
  const std::string text = header.text();
  std::size_t total = kFormat.size() + 16 + text.size() + kDigestBytes;
  for (const auto& array : arrays)
    total += 8 + array.size();
  std::string out;
  out.reserve(total);
  out += kFormat;
  append(out, text.size());
  out += text;
  append(out, arrays.size());
  for (const auto& array : arrays) {
    append(out, array.size());
    out.append(reinterpret_cast<const char*>(array.data()), array.size());
  }
  out += digest_of(out);
  return out;
}

base::Result<Checkpoint> unpack_checkpoint(std::string_view bytes, const std::string& name) {
  const std::string_view format = bytes.substr(0, kFormat.size());
  if (format != kFormat && format != kEarlierFormat)
    return base::error(base::Code::bad_input, "%s: expected a checkpoint of a simulation",
                       name.c_str());
  const base::Error damaged =
      base::error(base::Code::bad_input, "%s: damaged, its bytes are not those that were written",
                  name.c_str());
  if (bytes.size() < kFormat.size() + kDigestBytes) return damaged;
  const std::string_view content = bytes.substr(0, bytes.size() - kDigestBytes);
  if (digest_of(content) != bytes.substr(content.size())) return damaged;
  Reader reader(content.substr(kFormat.size()));
  Checkpoint checkpoint;
  std::uint64_t length = 0;
  std::string_view piece;
  if (!reader.number(length) || !reader.take(length, piece)) return damaged;
  auto header = base::parse_json(piece);
  if (!header) return damaged;
  checkpoint.header = std::move(*header);
  std::uint64_t count = 0;
  if (!reader.number(count)) return damaged;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!reader.number(length) || !reader.take(length, piece)) return damaged;
    std::vector<std::byte>& array = checkpoint.arrays.emplace_back(piece.size());
    if (!piece.empty()) std::memcpy(array.data(), piece.data(), piece.size());
  }
  if (!reader.at_end()) return damaged;
  return checkpoint;
}

}  // namespace ebb::fl
