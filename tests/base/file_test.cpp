// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ebb::base {
namespace {

TEST(ReadFile, ReadsFilesOfUnknownSize) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_NE(status->find("VmRSS"), std::string::npos);
}

TEST(ReadFile, SaysWhatIsMissing) {
  const auto result = read_file("/no/such/file");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::not_found);
  EXPECT_NE(result.error().message.find("/no/such/file"), std::string::npos);
}

TEST(ReadFile, StopsAtTheLimit) {
  const auto endless = read_file("/dev/zero", 100'000);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, Code::bad_input);
}

TEST(FileDescriptor, ClosesOnceAndMoves) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    FileDescriptor first(ends[0]);
    FileDescriptor second(std::move(first));
    EXPECT_FALSE(first.is_open());
    EXPECT_EQ(second.get(), ends[0]);
  }
  EXPECT_EQ(write(ends[1], "x", 0), 0);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), -1) << "closed with its owner";
  close(ends[1]);
}

}  // namespace
}  // namespace ebb::base
