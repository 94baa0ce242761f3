// SPDX-License-Identifier: Apache-2.0
#include "base/truth_word.h"

#include <gtest/gtest.h>

namespace ebb::base {
namespace {

TEST(TruthOfWord, KnowsThreeOfEach) {
  for (const char* word : {"1", "true", "True", "YES", "yes"})
    EXPECT_EQ(truth_of_word(word), true) << word;
  for (const char* word : {"0", "false", "FALSE", "No"})
    EXPECT_EQ(truth_of_word(word), false) << word;
  for (const char* word : {"", "on", "off", "2", "00", "tru", "truer", "1 "})
    EXPECT_EQ(truth_of_word(word), std::nullopt) << word;
}

TEST(Disables, EveryWordThatIsNotFalse) {
  for (const char* word : {"1", "true", "yes", "on", "off", "2"})
    EXPECT_TRUE(disables(word)) << word;
  for (const char* word : {"0", "false", "no", "No", ""})
    EXPECT_FALSE(disables(word)) << word;
  EXPECT_FALSE(disables(nullptr));
}

}  // namespace
}  // namespace ebb::base
