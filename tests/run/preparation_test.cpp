// SPDX-License-Identifier: Apache-2.0
#include "run/preparation.h"

#include <gtest/gtest.h>

#include <map>

#include "support/process_state.h"

namespace ebb::run {
namespace {

/// An environment out of pairs.
keep::Environment environment(std::map<std::string, std::string> values) {
  values.emplace("PATH", "/usr/bin:/bin");
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

Options options_for(const std::string& command) {
  Options options;
  options.command = {command};
  return options;
}

const JobVariable* find(const Preparation& made, const std::string& name) {
  for (const JobVariable& variable : made.variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

TEST(Prepare, SetsWhatTheRoleAsksFor) {
  Options options = options_for("sh");
  options.role = keep::Role::server;
  const auto made = prepare(options, "/run/x", environment({}));
  ASSERT_TRUE(made);
  ASSERT_NE(find(*made, "MALLOC_ARENA_MAX"), nullptr);
  EXPECT_EQ(find(*made, "MALLOC_ARENA_MAX")->value, "4");
  EXPECT_EQ(find(*made, "EBB_ROLE")->value, "server");
}

TEST(Prepare, LeavesTheAllocatorsSettingsAloneWithoutARole) {
  const auto made = prepare(options_for("sh"), "/run/x", environment({}));
  ASSERT_TRUE(made);
  EXPECT_EQ(find(*made, "MALLOC_ARENA_MAX"), nullptr);
}

TEST(Prepare, KeepsWhatTheUserHasSet) {
  Options options = options_for("sh");
  options.role = keep::Role::server;
  const auto made = prepare(options, "/run/x", environment({{"MALLOC_ARENA_MAX", "9"}}));
  ASSERT_TRUE(made);
  EXPECT_EQ(find(*made, "MALLOC_ARENA_MAX"), nullptr);
  ASSERT_FALSE(made->notes.empty());
  EXPECT_NE(made->notes.front().find("MALLOC_ARENA_MAX stays 9"), std::string::npos);
}

TEST(Prepare, PutsPreloadsInFrontOfOthers) {
  const auto made = prepare(options_for("sh"), "/run/x",
                            environment({{"GLIBC_TUNABLES", "glibc.malloc.check=1"}}));
  ASSERT_TRUE(made);
  EXPECT_EQ(find(*made, "GLIBC_TUNABLES")->value, "glibc.mem.decorate_maps=1:glibc.malloc.check=1");
}

TEST(Prepare, PutsTheAllocatorBehindWhatTheUserPreloads) {
  Options options = options_for("sh");
  options.allocator = "jemalloc";
  const auto made = prepare(
      options, "/run/x", environment({{"LD_PRELOAD", "/mine.so"}, {"MALLOC_CONF", "narenas:1"}}));
  ASSERT_TRUE(made) << made.error().message;
  const std::string& preloads = find(*made, "LD_PRELOAD")->value;
  EXPECT_LT(preloads.find("/mine.so"), preloads.find("libjemalloc")) << preloads;
  EXPECT_NE(preloads.find("libjemalloc"), std::string::npos);
  EXPECT_EQ(find(*made, "MALLOC_CONF"), nullptr);
}

TEST(Prepare, OnlyObservesWhereAsked) {
  Options options = options_for("sh");
  options.manage = false;
  const auto made = prepare(options, "/run/x", environment({}));
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->variables.empty());
  EXPECT_EQ(made->agent, "");
}

TEST(Prepare, TellsTheHookToLetGoOfResultsOnlyWhereAsked) {
  Options options = options_for("sh");
  EXPECT_EQ(find(*prepare(options, "/run/x", environment({})), "EBB_NVFLARE"), nullptr);
  options.nvflare = true;
  const auto made = prepare(options, "/run/x", environment({}));
  ASSERT_TRUE(made);
  ASSERT_NE(find(*made, "EBB_NVFLARE"), nullptr);
}

TEST(Prepare, RefusesAnAllocatorThatIsNone) {
  Options options = options_for("sh");
  options.allocator = "malloc";
  const auto made = prepare(options, "/run/x", environment({}));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("'malloc'"), std::string::npos);
}

TEST(EnvironmentWith, ReplacesAndAdds) {
  const support::ScopedVariable variable("EBB_TEST_OLD", "old");
  const auto all = environment_with({{"EBB_TEST_OLD", "new", ""}, {"EBB_TEST_MORE", "1", ""}});
  EXPECT_EQ(std::count(all.begin(), all.end(), "EBB_TEST_OLD=new"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "EBB_TEST_OLD=old"), 0);
  EXPECT_EQ(std::count(all.begin(), all.end(), "EBB_TEST_MORE=1"), 1);
}

}  // namespace
}  // namespace ebb::run
