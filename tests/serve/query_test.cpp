// SPDX-License-Identifier: Apache-2.0
#include "serve/query.h"

#include <gtest/gtest.h>

namespace ebb::serve {
namespace {

TEST(QueryText, IsDecoded) {
  const Query query = read_query("name=a%20b+c.pickle&&empty=&alone&name=second&%6B=%2f");
  EXPECT_EQ(value_of(query, "name"), "a b c.pickle");
  EXPECT_EQ(value_of(query, "empty"), "");
  EXPECT_EQ(value_of(query, "alone"), "");
  EXPECT_EQ(value_of(query, "k"), "/");
  EXPECT_EQ(query.size(), 5U);
}

TEST(QueryText, IsWellFormedWhereEachPercentSignBeginsTwoDigits) {
  for (const char* text : {"", "a=b", "a=%41", "%2f%2F=+"})
    EXPECT_TRUE(is_well_formed(text)) << text;
  for (const char* text : {"%", "a=%4", "a=%zz", "a=%4z", "100%", "%%41"})
    EXPECT_FALSE(is_well_formed(text)) << text;
}

TEST(QueryText, IsEncodedAsItIsDecoded) {
  std::string every;
  for (int c = 1; c < 256; ++c)
    every += static_cast<char>(c);
  const std::string text = "x=" + encoded(every);
  EXPECT_TRUE(is_well_formed(text));
  EXPECT_EQ(value_of(read_query(text), "x"), every);
  EXPECT_EQ(encoded("llama-3.2_1b~ (x)"), "llama-3.2_1b~%20%28x%29");
}

TEST(QueryText, KeepsWhatIsNoCode) {
  EXPECT_EQ(value_of(read_query("a=100%&b=%zz%4"), "a"), "100%");
  EXPECT_EQ(value_of(read_query("a=100%&b=%zz%4"), "b"), "%zz%4");
  EXPECT_EQ(value_of(read_query("a=%41"), "a"), "A");
  EXPECT_TRUE(read_query("").empty());
}

}  // namespace
}  // namespace ebb::serve
