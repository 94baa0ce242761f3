// SPDX-License-Identifier: Apache-2.0
#include "base/write_now.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/file.h"
#include "support/child_process.h"
#include "support/full_pipe.h"
#include "support/temporary_directory.h"

namespace ebb::base {
namespace {

/// As a program finds it that was started with it: a write to it waits.
FileDescriptor waiting_end(const support::FullPipe& pipe) {
  return FileDescriptor(::open(pipe.path().c_str(), O_WRONLY | O_CLOEXEC));
}

TEST(WriteNow, DoesNotWaitForTheReaderOfAPipeAndLeavesItsFlagsToOthers) {
  const support::TemporaryDirectory folder;
  const support::FullPipe pipe(folder / "pipe");
  const FileDescriptor end = waiting_end(pipe);
  errno = 0;
  EXPECT_EQ(write_now(end.get(), "one\n"), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(::fcntl(end.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(pipe.drain(), "");
  EXPECT_EQ(write_now(end.get(), "two\n"), 4);
  EXPECT_EQ(pipe.drain(), "two\n");
}

TEST(WriteNow, DoesNotWaitWhereNoDescriptorIsLeft) {
  EXPECT_TRUE(support::holds_in_child([] {
    const support::TemporaryDirectory folder;
    const support::FullPipe pipe(folder / "pipe");
    const FileDescriptor end = waiting_end(pipe);
    const rlimit as_many_as_the_first{3, 3};
    ::setrlimit(RLIMIT_NOFILE, &as_many_as_the_first);
    errno = 0;
    if (write_now(end.get(), "one\n") != -1 || errno != EAGAIN) return false;
    pipe.drain();
    return write_now(end.get(), "two\n") == 4 && pipe.drain() == "two\n";
  }));
}

TEST(WriteNow, DoesNotWaitForTheReaderOfASocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor one(ends[0]);
  const FileDescriptor other(ends[1]);
  const std::string much(1 << 16, '.');
  ssize_t put = 0;
  while ((put = write_now(one.get(), much)) > 0) {
  }
  EXPECT_EQ(errno, EAGAIN);
}

TEST(WriteNow, AFileIsGoneOnWith) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.write("file", "first\n");
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ::lseek(file.get(), 0, SEEK_END);
  EXPECT_EQ(write_now(file.get(), "second\n"), 7);
  EXPECT_EQ(read_file(path).value_or(""), "first\nsecond\n");
}

TEST(WriteWithin, SaysWhatIsLeft) {
  const support::TemporaryDirectory folder;
  const support::FullPipe pipe(folder / "pipe");
  const FileDescriptor end = waiting_end(pipe);
  std::string_view line = "one\n";
  EXPECT_EQ(write_within(end.get(), line, 1), EAGAIN);
  EXPECT_EQ(line, "one\n");
  pipe.drain();
  EXPECT_EQ(write_within(end.get(), line, 0), 0);
  EXPECT_EQ(line, "");
  const std::string more(1 << 20, '#');
  std::string_view rest = more;
  EXPECT_EQ(write_within(end.get(), rest, 1), EAGAIN);
  EXPECT_EQ(rest.size() + pipe.drain().size() - 4, more.size());
}

TEST(WriteWithin, TellsAnyOtherFailure) {
  std::string_view line = "one\n";
  EXPECT_EQ(write_within(-1, line, 0), EBADF);
}

}  // namespace
}  // namespace ebb::base
