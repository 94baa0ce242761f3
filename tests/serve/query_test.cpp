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

TEST(QueryText, KeepsWhatIsNoCode) {
  EXPECT_EQ(value_of(read_query("a=100%&b=%zz%4"), "a"), "100%");
  EXPECT_EQ(value_of(read_query("a=100%&b=%zz%4"), "b"), "%zz%4");
  EXPECT_EQ(value_of(read_query("a=%41"), "a"), "A");
  EXPECT_TRUE(read_query("").empty());
}

}  // namespace
}  // namespace ebb::serve
