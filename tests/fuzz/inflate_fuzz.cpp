// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "pack/inflate.h"

namespace {

using namespace ebb::pack;

constexpr std::size_t kMostOutput = 4 << 20;

struct Unpacked {
  bool whole = false;
  std::string content;
  std::size_t used = 0;  ///< bytes of input
};

/// Deflate without a head, as zlib sees it.
Unpacked by_zlib(std::string_view packed) {
  Unpacked out;
  z_stream stream{};
  EBB_CHECK(inflateInit2(&stream, -15) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string part(1 << 16, '\0');
  int result = Z_OK;
  while (result == Z_OK && out.content.size() < kMostOutput) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_NO_FLUSH);
    out.content.append(part, 0, part.size() - stream.avail_out);
  }
  out.whole = result == Z_STREAM_END;
  out.used = packed.size() - stream.avail_in;
  inflateEnd(&stream);
  return out;
}

Unpacked by_ebb(const std::string& packed) {
  Unpacked out;
  GzipSource source(std::make_unique<TextSource>(packed), "file");
  std::string part(10007, '\0');
  while (out.content.size() < kMostOutput) {
    const auto got = source.read(part.data(), part.size());
    if (!got) {
      EBB_CHECK(got.error().code == ebb::base::Code::bad_input);
      EBB_CHECK(got.error().message.find("file: byte ") == 0);
      return out;
    }
    if (*got == 0) {
      out.whole = true;
      return out;
    }
    out.content.append(part, 0, *got);
  }
  return out;
}

void append_word(std::string& out, std::uint64_t word) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out += static_cast<char>(word >> shift & 0xFF);
  }
}

}  // namespace

/// The input as the body of a gzip file, with the checksum that belongs to it: what zlib unpacks is
/// unpacked the same, what it refuses is refused. The input as a whole file: any end but a crash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  static_cast<void>(by_ebb(std::string(body)));

  const Unpacked expected = by_zlib(body);
  if (!expected.whole && expected.content.size() >= kMostOutput) return 0;
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  packed += body.substr(0, expected.whole ? expected.used : body.size());
  append_word(packed, crc32(0, reinterpret_cast<const Bytef*>(expected.content.data()),
                            static_cast<uInt>(expected.content.size())));
  append_word(packed, expected.content.size());
  const Unpacked unpacked = by_ebb(packed);
  if (expected.whole && expected.content.size() < kMostOutput) {
    EBB_CHECK(unpacked.whole && unpacked.content == expected.content);
  } else if (!expected.whole) {
    EBB_CHECK(!unpacked.whole);
  }
  return 0;
}
