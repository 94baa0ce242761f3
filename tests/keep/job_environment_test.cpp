// SPDX-License-Identifier: Apache-2.0
#include "keep/job_environment.h"

#include <gtest/gtest.h>

#include "support/subprocess.h"

namespace ebb::keep {
namespace {

std::string value_of(const std::vector<EnvironmentVariable>& variables, std::string_view name) {
  for (const EnvironmentVariable& variable : variables)
    if (variable.name == name) return variable.value;
  return {};
}

TEST(JobEnvironment, KeepsGlibcWithFewArenas) {
  EXPECT_EQ(value_of(job_environment(Role::server, std::nullopt), "MALLOC_ARENA_MAX"), "4");
  EXPECT_EQ(value_of(job_environment(Role::server, std::nullopt), "MALLOC_TRIM_THRESHOLD_"), "");
  EXPECT_EQ(value_of(job_environment(Role::client, std::nullopt), "MALLOC_ARENA_MAX"), "2");
  EXPECT_EQ(value_of(job_environment(Role::trainer, std::nullopt), "MALLOC_TRIM_THRESHOLD_"),
            "131072");
}

TEST(JobEnvironment, NeverRecommendsJemallocWithoutItsBackgroundThread) {
  const auto variables = job_environment(
      Role::client, heap::InstalledAllocator{heap::AllocatorKind::jemalloc, "/lib/j.so", false});
  EXPECT_EQ(value_of(variables, "LD_PRELOAD"), "/lib/j.so");
  EXPECT_NE(value_of(variables, "MALLOC_CONF").find("background_thread:true"), std::string::npos);
  EXPECT_NE(value_of(variables, "MALLOC_CONF").find("decay"), std::string::npos);
  EXPECT_EQ(value_of(variables, "MALLOC_ARENA_MAX"), "") << "glibc's variable means nothing here";
}

TEST(JobEnvironment, NamesMimallocsDelayByVersion) {
  const heap::InstalledAllocator old{heap::AllocatorKind::mimalloc, "/lib/m.so", false};
  const heap::InstalledAllocator recent{heap::AllocatorKind::mimalloc, "/lib/m.so", true};
  EXPECT_EQ(value_of(job_environment(Role::client, old), "MIMALLOC_DECOMMIT_DELAY"), "0");
  EXPECT_EQ(value_of(job_environment(Role::client, recent), "MIMALLOC_PURGE_DELAY"), "0");
}

TEST(EnvironmentText, SurvivesARealShell) {
  const std::vector<EnvironmentVariable> variables{{"EBB_A", "it's $HOME \"quoted\" \\", "why"},
                                                   {"EBB_B", "first", "why", true}};
  const std::string text = environment_text(variables, ShellSyntax::sh);
  const auto shown = support::run({"sh", "-c", text + "printf '%s|%s' \"$EBB_A\" \"$EBB_B\""},
                                  {{"EBB_B", "second"}});
  EXPECT_EQ(shown.output, "it's $HOME \"quoted\" \\|first:second");
  const auto alone = support::run({"sh", "-c", text + "printf '%s' \"$EBB_B\""});
  EXPECT_EQ(alone.output, "first") << "no colon where nothing was there";
}

TEST(EnvironmentText, WritesFishAndDockerfiles) {
  const std::vector<EnvironmentVariable> variables{{"A", "x'y", "because"},
                                                   {"B", "b", "because", true}};
  EXPECT_EQ(environment_text(variables, ShellSyntax::fish),
            "# because\nset -gx A 'x\\'y'\n# because\nset -gx B (string join : -- 'b' $B)\n");
  EXPECT_EQ(environment_text({{"A", "a$b\"c", "because"}}, ShellSyntax::docker),
            "# because\nENV A=\"a\\$b\\\"c\"\n");
  EXPECT_FALSE(shell_syntax_from("csh"));
}

}  // namespace
}  // namespace ebb::keep
