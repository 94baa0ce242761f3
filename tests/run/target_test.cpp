// SPDX-License-Identifier: Apache-2.0
#include "run/target.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_directory.h"

namespace ebb::run {
namespace {

class TargetTest : public testing::Test {
 protected:
  std::string script(const std::string& name, const std::string& text) {
    const std::string path = folder_.write(name, text);
    chmod(path.c_str(), 0755);
    return path;
  }

  support::TemporaryDirectory folder_;
};

TEST_F(TargetTest, FindsACommandAsTheShellDoes) {
  script("first/tool", "#!/bin/sh\n");
  script("second/tool", "#!/bin/sh\n");
  const Target target = find_target("tool", folder_ / "none:" + (folder_ / "second"));
  EXPECT_EQ(target.path, folder_ / "second/tool");
}

TEST_F(TargetTest, TakesADynamicProgram) {
  const Target target = find_target("sh", "/usr/bin:/bin");
  EXPECT_EQ(target.no_agent, "");
  EXPECT_FALSE(target.program.empty());
}

TEST_F(TargetTest, FollowsScriptsToTheProgramThatRuns) {
  const std::string direct = script("direct", "#!/bin/sh -e\necho\n");
  EXPECT_EQ(find_target(direct, "").program, "/bin/sh");
  const std::string by_env = script("by_env", "#!/usr/bin/env sh\necho\n");
  EXPECT_EQ(find_target(by_env, "/bin").program, "/bin/sh");
  const std::string twice = script("twice", "#!" + direct + "\n");
  EXPECT_EQ(find_target(twice, "").program, "/bin/sh");
}

TEST_F(TargetTest, EndsWithAScriptThatNamesItself) {
  const std::string circle = folder_ / "circle";
  script("circle", "#!" + circle + "\n");
  EXPECT_NE(find_target(circle, "").no_agent, "");
}

TEST_F(TargetTest, LeavesAStaticProgramAlone) {
  const Target target = find_target(EBB_STATIC_JOB, "");
  EXPECT_NE(target.no_agent.find("static"), std::string::npos) << target.no_agent;
}

TEST_F(TargetTest, KnowsProgramsThatKeepTheirMallocToThemselves) {
  EXPECT_EQ(why_no_sites_in(EBB_OWN_MALLOC), "its allocator is linked into the program");
  EXPECT_EQ(why_no_sites_in(EBB_SANITIZED_JOB),
            "it is built with a sanitizer, which has the malloc");
  EXPECT_EQ(why_no_sites_in("/bin/sh"), "");
  EXPECT_EQ(why_no_sites_in(folder_ / "none"), "") << "it cannot be told";
}

TEST_F(TargetTest, LeavesWhatIsNoProgramAlone) {
  EXPECT_NE(find_target(script("text", "hello\n"), "").no_agent, "");
  EXPECT_NE(find_target("no-such-command", "/bin").no_agent, "");
  EXPECT_EQ(find_target("no-such-command", "/bin").path, "");
}

TEST_F(TargetTest, LeavesAProgramWithOtherRightsAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a file another user's";
  const std::string copy = folder_.write("tool", "");
  std::filesystem::copy_file("/bin/true", copy, std::filesystem::copy_options::overwrite_existing);
  ASSERT_EQ(chown(copy.c_str(), 1234, 1234), 0);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  EXPECT_NE(find_target(copy, "").no_agent.find("setuid"), std::string::npos);
}

}  // namespace
}  // namespace ebb::run
