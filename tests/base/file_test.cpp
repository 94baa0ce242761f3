// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_directory.h"

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

TEST(WriteFileAtomically, ReplacesTheContentWhole) {
  const support::TemporaryDirectory directory;
  const std::string path = directory / "out";
  ASSERT_TRUE(write_file_atomically(path, "one"));
  ASSERT_TRUE(write_file_atomically(path, "two"));
  EXPECT_EQ(*read_file(path), "two");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
}

TEST(WriteFileAtomically, LeavesNothingBehindWhenItFails) {
  const support::TemporaryDirectory directory;
  const std::string path = directory / "taken";
  std::filesystem::create_directories(path + "/inside");
  ASSERT_FALSE(write_file_atomically(path, "x")) << "a directory cannot be replaced by a file";
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_EQ(entry.path().filename(), "taken");
    ++entries;
  }
  EXPECT_EQ(entries, 1);
  EXPECT_FALSE(write_file_atomically(directory / "no/such/folder/x", "x"));
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
