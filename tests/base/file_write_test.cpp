// SPDX-License-Identifier: Apache-2.0
// Output to whatever may stand at a path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <functional>

#include "base/file.h"
#include "base/text.h"
#include "support/temporary_directory.h"

namespace ebb::base {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode;
}

std::string received_by(int descriptor) {
  char buffer[64];
  const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : "";
}

class WriteFile : public testing::Test {
 protected:
  support::TemporaryDirectory folder_;
  std::string path_ = folder_ / "out";
};

TEST_F(WriteFile, ReplacesTheContentWhole) {
  ASSERT_TRUE(write_file_atomically(path_, "one"));
  ASSERT_TRUE(write_file_atomically(path_, "two"));
  EXPECT_EQ(*read_file(path_), "two");
}

TEST_F(WriteFile, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  const auto written = write_file_atomically(path_, "one");
  ::umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(mode_of(path_) & 07777, 0640U);
}

TEST_F(WriteFile, KeepsTheModeOfWhatItReplaces) {
  folder_.write("out", "secret");
  for (const mode_t mode : {0600U, 0666U, 0444U}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    ASSERT_TRUE(write_file_atomically(path_, "new"));
    EXPECT_EQ(mode_of(path_) & 07777, mode);
  }
  EXPECT_EQ(*read_file(path_), "new");
}

TEST_F(WriteFile, KeepsTheOwnerWherePermitted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  folder_.write("out", "theirs");
  ASSERT_EQ(::chown(path_.c_str(), 12345, 54321), 0);
  ASSERT_TRUE(write_file_atomically(path_, "new"));
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345U);
  EXPECT_EQ(info.st_gid, 54321U);
}

/// What `act` says in a process that may not do what root may, in a folder that takes no new files.
int unprivileged_in(const std::string& folder, const std::function<int()>& act) {
  EXPECT_EQ(::chmod(folder.c_str(), 0555), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(99);
    ::_exit(act());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(::chmod(folder.c_str(), 0755), 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(WriteFile, WritesInPlaceWhereNothingCanReplaceAFile) {
  folder_.write("out", "much that was there before");
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  const auto write = [&] { return write_file_atomically(path_, "new") ? 0 : 1; };
  EXPECT_EQ(unprivileged_in(folder_.path(), write), 0);
  EXPECT_EQ(*read_file(path_), "new");
}

TEST_F(WriteFile, WhatWasInAFileStaysWhereItCannotBeWrittenInPlace) {
  folder_.write("out", "old");
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  const auto write = [&] {
    const rlimit small{100, 100};
    ::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 98;
    return write_file_atomically(path_, std::string(1000, 'x')) ? 0 : 1;
  };
  EXPECT_EQ(unprivileged_in(folder_.path(), write), 1);
  EXPECT_EQ(*read_file(path_), "old");
}

TEST_F(WriteFile, WritesToAFileThatIsMountedAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root mounts";
  folder_.write("out", "a place");
  const std::string from = folder_.write("mounted", "much that was there before");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(from.c_str(), path_.c_str(), nullptr, MS_BIND, nullptr) != 0)
      ::_exit(99);
    ::_exit(write_file_atomically(path_, "new") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 99) GTEST_SKIP() << "this root may not mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*read_file(from), "new");
  EXPECT_EQ(*read_file(path_), "a place");
}

TEST_F(WriteFile, TakesNamesAsLongAsTheyMayBe) {
  const std::string path = folder_ / std::string(NAME_MAX, 'n');
  ASSERT_TRUE(write_file_atomically(path, "one"));
  ASSERT_TRUE(write_file_atomically(path, "two"));
  EXPECT_EQ(*read_file(path), "two");
}

TEST_F(WriteFile, GoesThroughLinksToTheirTarget) {
  const std::string target = folder_.write("below/target", "old");
  ASSERT_EQ(::chmod(target.c_str(), 0600), 0);
  ASSERT_EQ(::symlink("below/hop", path_.c_str()), 0);
  ASSERT_EQ(::symlink("target", (folder_ / "below/hop").c_str()), 0);
  ASSERT_TRUE(write_file_atomically(path_, "new"));
  EXPECT_TRUE(S_ISLNK(mode_of(path_)));
  EXPECT_TRUE(S_ISLNK(mode_of(folder_ / "below/hop")));
  EXPECT_EQ(*read_file(target), "new");
  EXPECT_EQ(mode_of(target) & 07777, 0600U);
}

TEST_F(WriteFile, MakesTheTargetOfALinkThatLeadsNowhereYet) {
  ASSERT_EQ(::symlink("later", path_.c_str()), 0);
  ASSERT_TRUE(write_file_atomically(path_, "new"));
  EXPECT_TRUE(S_ISLNK(mode_of(path_)));
  EXPECT_EQ(*read_file(folder_ / "later"), "new");
}

TEST_F(WriteFile, RefusesLinksInACircle) {
  ASSERT_EQ(::symlink("out", path_.c_str()), 0);
  const auto written = write_file_atomically(path_, "new");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().native, ELOOP);
}

TEST_F(WriteFile, WritesToAFifoThatIsRead) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const FileDescriptor reader(::open(path_.c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(write_file_atomically(path_, "page"));
  EXPECT_TRUE(S_ISFIFO(mode_of(path_)));
  EXPECT_EQ(received_by(reader.get()), "page");
}

TEST_F(WriteFile, RefusesAFifoThatNobodyReads) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto written = write_file_atomically(path_, "page");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::bad_input);
  EXPECT_NE(written.error().message.find(path_ + ": a FIFO that nobody reads"), std::string::npos);
  EXPECT_TRUE(S_ISFIFO(mode_of(path_)));
}

TEST_F(WriteFile, IsToldBeforehandThatItCannot) {
  EXPECT_TRUE(can_write_file(path_)) << "nothing is there yet";
  EXPECT_FALSE(std::filesystem::exists(path_)) << "and nothing is there now";
  const auto folder = can_write_file(std::filesystem::path(path_).parent_path().string());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::bad_input);
  const auto nowhere = can_write_file(path_ + "/none/page");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find(path_), std::string::npos);
  ASSERT_TRUE(write_file_atomically(path_, "page"));
  EXPECT_TRUE(can_write_file(path_));
}

TEST_F(WriteFile, WritesToDevices) {
  const FileDescriptor terminal(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal.is_open());
  ASSERT_EQ(::grantpt(terminal.get()), 0);
  ASSERT_EQ(::unlockpt(terminal.get()), 0);
  ASSERT_EQ(::symlink(::ptsname(terminal.get()), path_.c_str()), 0);
  // Held open: what was written goes with the last descriptor.
  const FileDescriptor held(::open(path_.c_str(), O_RDWR | O_NOCTTY));
  const auto written = write_file_atomically(path_, "page");
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_TRUE(S_ISLNK(mode_of(path_)));
  EXPECT_EQ(received_by(terminal.get()), "page");
}

TEST_F(WriteFile, WritesToWhoListensAtASocket) {
  const FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_FALSE(write_file_atomically(path_, "nobody listens yet"));
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_TRUE(write_file_atomically(path_, "page"));
  ASSERT_TRUE(S_ISSOCK(mode_of(path_)));
  const FileDescriptor connection(::accept(listener.get(), nullptr, nullptr));
  EXPECT_EQ(received_by(connection.get()), "page");
}

TEST_F(WriteFile, WritesToAnOpenDescriptorBehindWhatIsThere) {
  const FileDescriptor log(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  ASSERT_EQ(write_all(log.get(), "before "), 0);
  const std::string name = format_text("/dev/fd/%d", log.get());
  ASSERT_TRUE(write_file_atomically(name, "page"));
  ASSERT_EQ(write_all(log.get(), " after"), 0);
  EXPECT_EQ(*read_file(path_), "before page after");
}

TEST_F(WriteFile, AReaderThatHasLeftIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const FileDescriptor end(ends[1]);
  const auto written = write_file_atomically(format_text("/dev/fd/%d", end.get()), "page");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().native, EPIPE);
}

TEST_F(WriteFile, WhatAKilledWriterLeftIsRemovedAndNothingElse) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const auto named = [&](pid_t writer, const char* rest) {
    return "out." + std::to_string(writer) + rest;
  };
  const std::string left = folder_.write(named(gone, "-1f0a3b5c9d"), "half");
  std::vector<std::string> others = {folder_.write(named(::getpid(), "-1f0a3b5c9d"), "at work")};
  for (const char* rest : {"", "-", "-1f", "-backup-of-mine", "-1F0A3B5C9D"})
    others.push_back(folder_.write(named(gone, rest), "the user's"));
  others.push_back(folder_.write("out.x-1f0a3b5c9d", "the user's"));
  others.push_back(folder_.write("other." + std::to_string(gone) + "-1f0a3b5c9d", "of another"));
  remove_unfinished(path_);
  EXPECT_NE(::access(left.c_str(), F_OK), 0);
  for (const std::string& other : others)
    EXPECT_EQ(::access(other.c_str(), F_OK), 0) << other;
}

TEST_F(WriteFile, TellsPlacesOfFilesFromAllOthers) {
  EXPECT_TRUE(is_place_of_file(path_)) << "nothing there";
  folder_.write("out", "a file");
  EXPECT_TRUE(is_place_of_file(path_));
  EXPECT_FALSE(is_place_of_file(folder_.path()));
  EXPECT_FALSE(is_place_of_file("/dev/null"));
  const FileDescriptor file(::open(path_.c_str(), O_WRONLY));
  EXPECT_FALSE(is_place_of_file("/dev/fd/" + std::to_string(file.get()))) << "whatever it is of";
}

TEST_F(WriteFile, LeavesNothingBehindWhenItFails) {
  std::filesystem::create_directories(path_ + "/inside");
  const auto written = write_file_atomically(path_, "x");
  ASSERT_FALSE(written) << "a folder cannot be replaced by a file";
  EXPECT_EQ(written.error().code, Code::bad_input);
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ(entry.path().filename(), "out");
    ++entries;
  }
  EXPECT_EQ(entries, 1);
  EXPECT_FALSE(write_file_atomically(folder_ / "no/such/folder/x", "x"));
}

}  // namespace
}  // namespace ebb::base
