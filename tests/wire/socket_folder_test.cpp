// SPDX-License-Identifier: Apache-2.0
#include "wire/socket_folder.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "../base/limited_memory.h"
#include "support/process_state.h"
#include "support/temporary_directory.h"

namespace ebb::wire {
namespace {

/// As a supervisor that was killed leaves one: with its socket and without a lock.
std::string left_behind(const support::TemporaryDirectory& parent, const std::string& name) {
  std::string folder = parent / name;
  EXPECT_EQ(mkdir(folder.c_str(), 0700), 0);
  const base::FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, (folder + "/agents").c_str());
  EXPECT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return folder;
}

class SocketFolders : public testing::Test {
 protected:
  std::size_t count() const {
    const std::filesystem::directory_iterator all(parent_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  support::TemporaryDirectory parent_;
  support::ScopedVariable runtime_{"XDG_RUNTIME_DIR", parent_.path()};
};

TEST_F(SocketFolders, GoAlsoWithoutMemory) {
  auto made = SocketFolder::make();
  ASSERT_TRUE(made) << made.error().message;
  std::optional<SocketFolder> folder(*std::move(made));
  const std::string below = std::filesystem::directory_iterator(parent_.path())->path();
  ASSERT_TRUE(base::write_file_atomically(below + "/sites-12345-1234567890123456", ""));
  {
    const base::LimitedMemory none(0);
    folder.reset();
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(SocketFolders, WhatAKilledSupervisorLeftIsSweptByTheNext) {
  const std::string old = left_behind(parent_, "ebb-run-abcdef");
  const std::string empty = parent_ / "ebb-run-ghijkl";
  mkdir(empty.c_str(), 0700);
  const auto made = SocketFolder::make();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_FALSE(std::filesystem::exists(empty)) << "killed before it had a socket";
  EXPECT_EQ(count(), 1U) << "its own";
}

TEST_F(SocketFolders, TablesOfSitesGoWithTheirFolder) {
  const std::string old = left_behind(parent_, "ebb-run-abcdef");
  parent_.write("ebb-run-abcdef/sites-17-4", "a table");
  {
    const auto made = SocketFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_FALSE(std::filesystem::exists(old));
    const std::filesystem::path folder = std::filesystem::path(made->socket()).parent_path();
    parent_.write(folder.filename().string() + "/sites-18-5", "another");
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(SocketFolders, TablesThatSayOfWhatRunTheyAreAreHandedOver) {
  const std::string old = left_behind(parent_, "ebb-run-abcdef");
  parent_.write("ebb-run-abcdef/sites-17-4", "a table");
  parent_.write("ebb-run-abcdef/run", "{}");
  const auto made = SocketFolder::make();
  ASSERT_TRUE(made) << made.error().message;
  const std::filesystem::path own = std::filesystem::path(made->socket()).parent_path();
  parent_.write(own.filename().string() + "/sites-18-5", "in use");
  parent_.write(own.filename().string() + "/run", "{}");
  std::vector<std::string> seen;
  const auto keep = [&](const LeftFolder& folder) {
    seen.push_back(folder.path);
    EXPECT_EQ(folder.tables, std::vector<std::string>{"sites-17-4"});
    // Nobody else gets it meanwhile.
    take_left_folders({parent_.path()}, [](const LeftFolder&) {
      ADD_FAILURE();
      return false;
    });
    return false;
  };
  take_left_folders({parent_.path()}, keep);
  EXPECT_EQ(seen, std::vector<std::string>{old});
  EXPECT_TRUE(std::filesystem::exists(old + "/sites-17-4"));
  take_left_folders({parent_.path()}, [](const LeftFolder&) { return true; });
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_EQ(count(), 1U) << "its own";
}

TEST_F(SocketFolders, AnotherUsersTablesAreNotHandedOver) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a folder away";
  const std::string others = left_behind(parent_, "ebb-run-abcdef");
  parent_.write("ebb-run-abcdef/sites-17-4", "a table");
  parent_.write("ebb-run-abcdef/run", "{}");
  ASSERT_EQ(chown(others.c_str(), 12345, 12345), 0);
  take_left_folders({parent_.path()}, [](const LeftFolder&) {
    ADD_FAILURE();
    return true;
  });
  EXPECT_TRUE(std::filesystem::exists(others + "/sites-17-4"));
}

TEST_F(SocketFolders, OneInUseStays) {
  const auto first = SocketFolder::make();
  const auto second = SocketFolder::make();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(sweep_socket_folders({parent_.path()}), 0);
}

TEST_F(SocketFolders, WhatIsNotASupervisorsStays) {
  const std::string with_file = left_behind(parent_, "ebb-run-abcdef");
  parent_.write("ebb-run-abcdef/notes", "");
  const std::string open_to_all = left_behind(parent_, "ebb-run-ghijkl");
  chmod(open_to_all.c_str(), 0755);
  const std::string other_name = left_behind(parent_, "ebb-run-results");
  const std::string target = left_behind(parent_, "elsewhere");
  std::filesystem::create_symlink(target, parent_ / "ebb-run-mnopqr");
  parent_.write("ebb-run-stuvwx", "a file");
  EXPECT_EQ(sweep_socket_folders({parent_.path(), "/nonexistent"}), 0);
  EXPECT_EQ(count(), 6U);
  EXPECT_TRUE(std::filesystem::exists(with_file + "/agents"));
  EXPECT_TRUE(std::filesystem::exists(target + "/agents"));
}

TEST_F(SocketFolders, AnotherUsersStays) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a folder away";
  const std::string others = left_behind(parent_, "ebb-run-abcdef");
  ASSERT_EQ(chown(others.c_str(), 12345, 12345), 0);
  EXPECT_EQ(sweep_socket_folders({parent_.path()}), 0);
  EXPECT_TRUE(std::filesystem::exists(others));
}

TEST_F(SocketFolders, AtMostAHundredAreSweptAtATime) {
  for (int i = 0; i < 130; ++i)
    mkdir((parent_ / ("ebb-run-" + std::to_string(100000 + i))).c_str(), 0700);
  EXPECT_EQ(sweep_socket_folders({parent_.path()}), 100);
  EXPECT_EQ(sweep_socket_folders({parent_.path()}), 30);
  EXPECT_EQ(count(), 0U);
}

}  // namespace
}  // namespace ebb::wire
