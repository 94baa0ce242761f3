// SPDX-License-Identifier: Apache-2.0
#include "base/program.h"

#include <unistd.h>

namespace ebb::base {
namespace {

TEST(Programs, AFileIsFoundBesideTheProgram) {
  const auto folder = program_folder();
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(::access((*folder + "/base_test").c_str(), X_OK), 0) << *folder;
  const auto found = file_of_program("base_test", {"nowhere", "."});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, *folder + "/base_test");
}

TEST(Programs, AFileThatWasNotBuiltIsNotAvailable) {
  const auto found = file_of_program("no-such-library.so");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::unavailable);
  EXPECT_NE(found.error().message.find("no-such-library.so"), std::string::npos);
}

TEST(Programs, TheCommandLineBeginsWithTheProgram) {
  const std::vector<std::string> words = command_line();
  ASSERT_FALSE(words.empty());
  EXPECT_NE(words.front().find("base_test"), std::string::npos);
  EXPECT_FALSE(words.back().empty());
}

}  // namespace
}  // namespace ebb::base
