// SPDX-License-Identifier: Apache-2.0
#include "keep/pressure_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <semaphore>

#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace ebb::keep {
namespace {

Environment given(std::map<std::string, std::string> variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(PressureWatch, IsOffWithoutTheVariable) {
  for (const auto& environment : {given({}), given({{"MEMORY_PRESSURE_WATCH", ""}}),
                                  given({{"MEMORY_PRESSURE_WATCH", "/dev/null"}})}) {
    const auto watch = PressureWatch::start(environment, [] {});
    ASSERT_TRUE(watch);
    EXPECT_EQ(*watch, nullptr);
  }
}

TEST(PressureWatch, CallsBackEachTimeAFifoSpeaks) {
  const support::TemporaryDirectory directory;
  const std::string fifo = directory / "pressure";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::counting_semaphore<> asked(0);
  const auto watch =
      PressureWatch::start(given({{"MEMORY_PRESSURE_WATCH", fifo}}), [&] { asked.release(); });
  ASSERT_TRUE(watch) << watch.error().message;
  const int writer = open(fifo.c_str(), O_WRONLY);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(write(writer, "x", 1), 1);
    asked.acquire();
  }
  close(writer);
}

TEST(PressureWatch, GoesOnAfterACallThatThrew) {
  const support::TemporaryDirectory directory;
  const std::string fifo = directory / "pressure";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::counting_semaphore<> asked(0);
  const auto watch = PressureWatch::start(given({{"MEMORY_PRESSURE_WATCH", fifo}}), [&] {
    asked.release();
    throw std::bad_alloc();
  });
  ASSERT_TRUE(watch) << watch.error().message;
  const int writer = open(fifo.c_str(), O_WRONLY);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(write(writer, "x", 1), 1);
    asked.acquire();
  }
  close(writer);
}

TEST(PressureWatch, ConnectsToASocketAndWritesWhatItIsTold) {
  const support::TemporaryDirectory directory;
  const std::string path = directory / "socket";
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  std::counting_semaphore<> asked(0);
  const auto watch = PressureWatch::start(
      given({{"MEMORY_PRESSURE_WATCH", path}, {"MEMORY_PRESSURE_WRITE", "c29tZSAxIDI="}}),
      [&] { asked.release(); });
  ASSERT_TRUE(watch) << watch.error().message;
  const int peer = accept(listener, nullptr, nullptr);
  char heard[32] = {};
  EXPECT_EQ(read(peer, heard, sizeof heard), 8);
  EXPECT_STREQ(heard, "some 1 2");
  ASSERT_EQ(write(peer, "x", 1), 1);
  asked.acquire();
  close(peer);
  close(listener);
}

#if EBB_THREADS_IN_CHILDREN
TEST(PressureWatch, AForkedChildHasNoneUntilItStartsItsOwn) {
  const support::TemporaryDirectory directory;
  const std::string fifo = directory / "pressure";
  const std::string of_child = directory / "child";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(of_child.c_str(), 0600), 0);
  std::counting_semaphore<> is_up(0);
  auto watch =
      PressureWatch::start(given({{"MEMORY_PRESSURE_WATCH", fifo}}), [&] { is_up.release(); });
  ASSERT_TRUE(watch) << watch.error().message;
  // A thread that is being born may hold locks of the sanitizer's, which no fork lets go.
  const int press = open(fifo.c_str(), O_WRONLY);
  ASSERT_EQ(write(press, "x", 1), 1);
  is_up.acquire();
  EXPECT_TRUE(support::holds_in_child([&] {
    (*watch)->after_fork_in_child();
    watch->reset();
    std::counting_semaphore<> asked(0);
    const auto own = PressureWatch::start(given({{"MEMORY_PRESSURE_WATCH", of_child}}),
                                          [&] { asked.release(); });
    const int writer = open(of_child.c_str(), O_WRONLY);
    if (!own || write(writer, "x", 1) != 1) return false;
    asked.acquire();
    return true;
  }));
  close(press);
}
#endif

TEST(PressureWatch, SaysWhatIsWrong) {
  const support::TemporaryDirectory directory;
  const auto missing =
      PressureWatch::start(given({{"MEMORY_PRESSURE_WATCH", directory / "none"}}), [] {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::Code::not_found);
  const std::string file = directory.write("file", "");
  const auto garbled = PressureWatch::start(
      given({{"MEMORY_PRESSURE_WATCH", file}, {"MEMORY_PRESSURE_WRITE", "?"}}), [] {});
  ASSERT_FALSE(garbled);
  EXPECT_NE(garbled.error().message.find("expected base64"), std::string::npos);
}

TEST(DecodeBase64, FollowsTheStandard) {
  EXPECT_EQ(*decode_base64(""), "");
  EXPECT_EQ(*decode_base64("Zg=="), "f");
  EXPECT_EQ(*decode_base64("Zm8="), "fo");
  EXPECT_EQ(*decode_base64("Zm9vYmFy"), "foobar");
  for (const char* bad : {"Z", "Zg=", "Zg==Zg==", "=AAA", "Z===", "Zm9v!mFy"})
    EXPECT_FALSE(decode_base64(bad)) << bad;
}

}  // namespace
}  // namespace ebb::keep
