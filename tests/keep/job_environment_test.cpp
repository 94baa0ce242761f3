// SPDX-License-Identifier: Apache-2.0
#include "keep/job_environment.h"

#include <gtest/gtest.h>

#include "support/subprocess.h"
#include "support/temporary_directory.h"

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

TEST(JobEnvironment, TakesAnotherNumberOfArenasForGlibcAlone) {
  EXPECT_EQ(value_of(*job_environment_for(Role::server, "glibc", 8), "MALLOC_ARENA_MAX"), "8");
  const auto refused = job_environment_for(Role::server, "jemalloc", 8);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "arenas 8 with jemalloc: expected glibc, whose they are");
}

TEST(JobEnvironment, JemallocIsWantedByOneWordAlone) {
  const auto is_wanted_by = [](const std::string& value) {
    return wants_jemalloc([&](const char* name) -> std::optional<std::string> {
      if (std::string(name) != "NVFLARE_ENABLE_JEMALLOC_PRELOAD") return std::nullopt;
      return value;
    });
  };
  EXPECT_TRUE(is_wanted_by("true"));
  for (const char* other : {"True", "1", "yes", ""})
    EXPECT_FALSE(is_wanted_by(other)) << other;
  EXPECT_FALSE(wants_jemalloc([](const char*) { return std::nullopt; }));
}

TEST(JobEnvironment, JemallocIsTheDefaultWhereItIsWantedAndInstalled) {
  const Environment wanted = [](const char*) { return std::optional<std::string>("true"); };
  const Environment silent = [](const char*) { return std::nullopt; };
  EXPECT_EQ(default_allocator("keep", wanted).name, "jemalloc");
  EXPECT_EQ(default_allocator("keep", silent).name, "keep");
  const support::TemporaryDirectory empty;
  const DefaultAllocator missing = default_allocator("keep", wanted, empty.path());
  EXPECT_EQ(missing.name, "keep");
  EXPECT_EQ(missing.note,
            "NVFLARE_ENABLE_JEMALLOC_PRELOAD: jemalloc is not installed: apt install libjemalloc2, "
            "dnf install jemalloc or apk add jemalloc");
}

/// All that is awkward between quotes and braces.
constexpr const char* kAwkward = "it's $HOME \"quoted\" `x` {a} \\";

TEST(EnvironmentText, SurvivesARealShell) {
  const std::vector<EnvironmentVariable> variables{
      {"EBB_A", kAwkward, "why"},
      {"EBB_B", "first", "why", Placement::front},
      {"EBB_C", std::string("last ") + kAwkward, "why", Placement::back}};
  const std::string text = environment_text(variables, ShellSyntax::sh);
  const std::string show = "printf '%s|%s|%s' \"$EBB_A\" \"$EBB_B\" \"$EBB_C\"";
  for (const char* shell : {"dash", "bash"}) {
    const auto alone = support::run({shell, "-c", text + show});
    EXPECT_EQ(alone.output, std::string(kAwkward) + "|first|last " + kAwkward)
        << shell << ": no colon where nothing was there";
    const auto shown = support::run({shell, "-c", text + show},
                                    {{"EBB_A", "my own"}, {"EBB_B", "b b"}, {"EBB_C", "c c"}});
    EXPECT_EQ(shown.output, std::string("my own|first:b b|c c:last ") + kAwkward) << shell;
  }
}

TEST(EnvironmentText, WritesFishAndDockerfiles) {
  const std::vector<EnvironmentVariable> variables{{"A", "x'y$z", "because"},
                                                   {"B", "b", "because", Placement::front},
                                                   {"C", "c", "because", Placement::back}};
  EXPECT_EQ(environment_text(variables, ShellSyntax::fish),
            "# because\nset -q A; or set -gx A \"x'y\\$z\"\n"
            "# because\nset -gx B (string join : -- \"b\" $B)\n"
            "# because\nset -gx C (string join : -- $C \"c\")\n");
  EXPECT_EQ(environment_text(variables, ShellSyntax::docker),
            "# because\nENV A=\"${A:-x'y\\$z}\"\n"
            "# because\nENV B=\"b${B:+:$B}\"\n"
            "# because\nENV C=\"${C:+$C:}c\"\n");
  EXPECT_FALSE(shell_syntax_from("csh"));
}

}  // namespace
}  // namespace ebb::keep
