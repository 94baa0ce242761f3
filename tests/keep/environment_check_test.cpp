// SPDX-License-Identifier: Apache-2.0
#include "keep/environment_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

namespace ebb::keep {
namespace {

using heap::AllocatorKind;
using Variables = std::map<std::string, std::string>;

EnvironmentCheck check(const Variables& variables, AllocatorKind allocator) {
  return check_environment(
      [&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      allocator);
}

std::vector<std::string> names(const EnvironmentCheck& check) {
  std::vector<std::string> names;
  for (const EnvironmentVariable& variable : check.missing)
    names.push_back(variable.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(EnvironmentCheck, OfAnEmptyOneNamesWhatTheAllocatorAndTheRoleWant) {
  EXPECT_EQ(names(check({}, AllocatorKind::glibc)),
            (Names{"MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "EBB_MEMORY_GC_ROUNDS"}));
  EXPECT_EQ(names(check({{"EBB_ROLE", "server"}}, AllocatorKind::glibc)),
            (Names{"MALLOC_ARENA_MAX", "EBB_MEMORY_GC_ROUNDS"}));
  EXPECT_EQ(names(check({}, AllocatorKind::jemalloc)),
            (Names{"MALLOC_CONF", "EBB_MEMORY_GC_ROUNDS"}));
  EXPECT_EQ(names(check({}, AllocatorKind::tcmalloc)),
            (Names{"TCMALLOC_RELEASE_RATE", "EBB_MEMORY_GC_ROUNDS"}));
  EXPECT_EQ(names(check({}, AllocatorKind::mimalloc)).size(), 2U);
  EXPECT_EQ(names(check({}, AllocatorKind::musl)), Names{"EBB_MEMORY_GC_ROUNDS"});
}

TEST(EnvironmentCheck, RecommendsTheRolesValues) {
  const EnvironmentCheck server = check({{"EBB_ROLE", "server"}}, AllocatorKind::glibc);
  EXPECT_TRUE(server.role_is_told);
  EXPECT_EQ(server.missing.front().value, "4");
  EXPECT_EQ(server.missing.back().value, "5");
  const EnvironmentCheck other = check({}, AllocatorKind::glibc);
  EXPECT_FALSE(other.role_is_told);
  EXPECT_EQ(other.missing.front().value, "2");
}

TEST(EnvironmentCheck, IsContentWithOtherNamesForTheSame) {
  EXPECT_EQ(names(check(
                {{"GLIBC_TUNABLES", "glibc.malloc.arena_max=2:glibc.malloc.trim_threshold=131072"},
                 {"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "1"}},
                AllocatorKind::glibc)),
            Names{});
  EXPECT_EQ(names(check({{"MALLOC_CONF", "background_thread:true,dirty_decay_ms:500"},
                         {"EBB_MEMORY_GC_ROUNDS", "auto"}},
                        AllocatorKind::jemalloc)),
            Names{});
  EXPECT_EQ(names(check({{"MALLOC_CONF", "dirty_decay_ms:500"}, {"EBB_MEMORY_GC_ROUNDS", "1"}},
                        AllocatorKind::jemalloc)),
            Names{"MALLOC_CONF"})
      << "decay without the background thread does nothing while the job is idle";
  EXPECT_EQ(
      names(check({{"LD_PRELOAD", "/usr/lib/ebb/libebb-agent.so"}, {"TCMALLOC_RELEASE_RATE", "10"}},
                  AllocatorKind::tcmalloc)),
      Names{})
      << "under ebb run the supervisor decides";
}

TEST(EnvironmentCheck, SaysWhatIsWrongWithAVariable) {
  const EnvironmentCheck wrong = check({{"EBB_ROLE", "chef"}}, AllocatorKind::glibc);
  EXPECT_NE(wrong.trouble.find("chef"), std::string::npos) << wrong.trouble;
}

TEST(EnvironmentCheck, ReadsARunningProcess) {
  const EnvironmentCheck own = check_environment_of(::getpid(), AllocatorKind::glibc);
  EXPECT_EQ(own.trouble, "");
  const EnvironmentCheck nobody = check_environment_of(4194304, AllocatorKind::glibc);
  EXPECT_NE(nobody.trouble.find("4194304"), std::string::npos) << nobody.trouble;
  EXPECT_TRUE(nobody.missing.empty());
  EXPECT_EQ(*to_json(nobody).find("trouble")->as_string(), nobody.trouble);
}

}  // namespace
}  // namespace ebb::keep
