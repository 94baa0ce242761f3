// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

namespace ebb::base {
namespace {

std::string hash_of(const std::string& text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hex_text(hash.finish());
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesCome) {
  const std::string text(500, 'x');
  for (const std::size_t piece : {1U, 7U, 63U, 64U, 65U, 200U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece)
      hash.add(text.data() + at, std::min(piece, text.size() - at));
    EXPECT_EQ(hex_text(hash.finish()), hash_of(text)) << piece;
  }
}

}  // namespace
}  // namespace ebb::base
