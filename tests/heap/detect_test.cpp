// SPDX-License-Identifier: Apache-2.0
#include "heap/detect.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "support/subprocess.h"

namespace ebb::heap {
namespace {

using support::Subprocess;

struct Case {
  const char* what;
  std::string program;
  std::string preload;
  const char* allocator;
  bool controllable;
};

std::string program(const char* name) {
  return std::string(EBB_HEAP_PROGRAMS) + "/" + name;
}

/// Prints as itself in test names and failures.
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.what;
}

class DetectsTheRealAllocator : public testing::TestWithParam<Case> {};

TEST_P(DetectsTheRealAllocator, InsideAndFromOutside) {
  const Case& c = GetParam();
  Subprocess child({c.program}, {{"LD_PRELOAD", c.preload}});
  const auto said = base::parse_json(child.read_line());
  ASSERT_TRUE(said) << "the program did not start: " << said.error().message;
  EXPECT_EQ(*said->find("allocator")->as_string(), c.allocator) << said->text();
  EXPECT_EQ(said->find("controllable")->as_bool(), c.controllable) << said->text();

  for (const base::Json& copy : *said->find("copies")->as_array())
    EXPECT_NE(*copy.find("object")->as_string(), *said->find("object")->as_string());

  const auto outside = detect_in(child.pid());
  ASSERT_TRUE(outside) << outside.error().message;
  EXPECT_STREQ(name_of(outside->kind()), c.allocator) << outside->object;
}

INSTANTIATE_TEST_SUITE_P(
    Allocators, DetectsTheRealAllocator,
    testing::Values(
        Case{"glibc", program("heap_probe"), "", "glibc", true},
        Case{"glibc behind a stub", program("heap_probe_stub"), "", "glibc", true},
        Case{"mimalloc behind a stub", program("heap_probe_stub"), "libmimalloc.so.2.0", "mimalloc",
             true},
        Case{"jemalloc", program("heap_probe"), "libjemalloc.so.2", "jemalloc", true},
        Case{"tcmalloc_minimal", program("heap_probe"), "libtcmalloc_minimal.so.4", "tcmalloc",
             true},
        Case{"tcmalloc", program("heap_probe"), "libtcmalloc.so.4", "tcmalloc", true},
        Case{"mimalloc", program("heap_probe"), "libmimalloc.so.2.0", "mimalloc", true},
        Case{"a stray mallctl", program("heap_probe"), EBB_STRAY_MALLCTL, "glibc", true},
        Case{"a stray mallctl before tcmalloc", program("heap_probe"),
             EBB_STRAY_MALLCTL ":libtcmalloc_minimal.so.4", "tcmalloc", true},
        Case{"the first of two preloads", program("heap_probe"),
             "libmimalloc.so.2.0:libjemalloc.so.2", "mimalloc", true},
        Case{"static jemalloc", program("heap_probe_static_jemalloc"), "", "jemalloc", true},
        Case{"static jemalloc, stripped", program("heap_probe_static_jemalloc_stripped"), "",
             "jemalloc", false},
        Case{"static jemalloc, exported", program("heap_probe_static_jemalloc_exported"), "",
             "jemalloc", true},
        Case{"static tcmalloc", program("heap_probe_static_tcmalloc"), "", "tcmalloc", true},
        Case{"static jemalloc stands before a preload", program("heap_probe_static_jemalloc"),
             "libtcmalloc_minimal.so.4", "jemalloc", true}));

TEST(PrivateCopies, AreReportedBesideTheMainAllocator) {
  Subprocess child({program("heap_probe")}, {{"LD_PRELOAD", EBB_PRIVATE_COPY}});
  const auto said = base::parse_json(child.read_line());
  ASSERT_TRUE(said);
  EXPECT_EQ(*said->find("allocator")->as_string(), "glibc");
  ASSERT_EQ(said->find("copies")->as_array()->size(), 1U) << said->text();
  EXPECT_EQ(*said->find("copies")->as_array()->at(0).find("allocator")->as_string(), "jemalloc");
}

TEST(PrivateCopies, AStrayNameIsNotACopy) {
  Subprocess child({program("heap_probe")}, {{"LD_PRELOAD", EBB_STRAY_MALLCTL}});
  const auto said = base::parse_json(child.read_line());
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->find("copies")->as_array()->empty()) << said->text();
}

class DetectsFromOutside : public testing::TestWithParam<Case> {};

TEST_P(DetectsFromOutside, WithoutTheProcessKnowing) {
  const Case& c = GetParam();
  Subprocess child({c.program});
  ASSERT_EQ(child.read_line(), "ready");
  const auto found = detect_in(child.pid());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_STREQ(name_of(found->kind()), c.allocator);
}

INSTANTIATE_TEST_SUITE_P(
    StaticAndForeign, DetectsFromOutside,
    testing::Values(Case{"static glibc", program("sleeper_static"), "", "glibc", false},
                    Case{"static glibc, stripped", program("sleeper_static_stripped"), "", "glibc",
                         false},
                    Case{"musl", program("sleeper_musl"), "", "musl", false},
                    Case{"static musl", program("sleeper_musl_static"), "", "musl", false}));

TEST(DetectIn, FindsALibraryPreloadedThroughALink) {
  Subprocess child({program("heap_probe")}, {{"LD_PRELOAD", EBB_JEMALLOC_LINK}});
  ASSERT_FALSE(child.read_line().empty());
  const auto found = detect_in(child.pid());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind(), AllocatorKind::jemalloc);
}

TEST(DetectIn, SaysWhichProcessIsNotThere) {
  Subprocess child({program("sleeper_static")});
  child.close_input();
  const pid_t pid = child.pid();
  child.wait();
  const auto result = detect_in(pid);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::not_found);
  EXPECT_EQ(result.error().message, "no process with pid " + std::to_string(pid));
}

TEST(DetectIn, SaysThatAProcessEndedOrHasNoMemory) {
  // A zombie: there, but with no memory of its own left to read.
  Subprocess child({program("sleeper_static")});
  ASSERT_EQ(child.read_line(), "ready");
  kill(child.pid(), SIGKILL);
  siginfo_t ignored;
  waitid(P_PID, static_cast<id_t>(child.pid()), &ignored, WEXITED | WNOWAIT);
  const auto result = detect_in(child.pid());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::not_found) << result.error().message;
}

TEST(DetectIn, SaysWhenAProcessIsSomebodyElses) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to start a process as another user";
  Subprocess child({program("sleeper_static")});
  ASSERT_EQ(child.read_line(), "ready");
  // Look at root's process as nobody, in a child of our own.
  const pid_t looker = fork();
  if (looker == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
    const auto result = detect_in(child.pid());
    _exit(!result && result.error().code == base::Code::not_permitted ? 0 : 1);
  }
  int status = 0;
  waitpid(looker, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ebb::heap
