// SPDX-License-Identifier: Apache-2.0
#include "keep/settings.h"

#include <gtest/gtest.h>

#include <map>

namespace ebb::keep {
namespace {

Environment variables_of(std::map<std::string, std::string> variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Roles, HaveTheRecommendedDefaults) {
  EXPECT_EQ(defaults_of(Role::server).every, 5);
  EXPECT_EQ(defaults_of(Role::server).arenas, 4);
  EXPECT_FALSE(defaults_of(Role::server).cuda_empty_cache);
  EXPECT_EQ(defaults_of(Role::client).every, 1);
  EXPECT_EQ(defaults_of(Role::client).arenas, 2);
  EXPECT_TRUE(defaults_of(Role::client).cuda_empty_cache);
  for (const std::string_view name : role_names())
    EXPECT_EQ(name, name_of(*role_from(name)));
}

TEST(Roles, UnknownOnesGetTheNearestName) {
  const auto role = role_from("sever");
  ASSERT_FALSE(role);
  EXPECT_EQ(role.error().message,
            "unknown role 'sever': expected one of server, client, trainer, aggregator, simulator "
            "(did you mean server?)");
}

TEST(SettingsFrom, EmptyEnvironmentAsksForNothing) {
  const auto settings = settings_from(variables_of({}));
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->disabled || settings->role);
  for (const Role role : {Role::server, Role::client, Role::simulator}) {
    const Wishes wishes = settings->of(role);
    EXPECT_FALSE(wishes.rounds || wishes.cuda_empty_cache || wishes.memory_profile);
    EXPECT_FALSE(wants_memory_profile(role, *settings));
  }
  EXPECT_EQ(settings->own_role(), Role::trainer);
}

TEST(SettingsFrom, ReadsNvflaresNamesForClientsAndTrainersAlone) {
  const auto settings = settings_from(variables_of({{"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "3"},
                                                    {"NVFLARE_CUDA_EMPTY_CACHE", "true"},
                                                    {"NVFLARE_CLIENT_MEMORY_PROFILE", "YES"}}));
  ASSERT_TRUE(settings);
  for (const Role role : {Role::client, Role::trainer}) {
    EXPECT_EQ(schedule_for(role, *settings).every, 3);
    EXPECT_TRUE(schedule_for(role, *settings).cuda_empty_cache);
    EXPECT_TRUE(wants_memory_profile(role, *settings));
  }
  for (const Role role : {Role::server, Role::aggregator, Role::simulator}) {
    EXPECT_EQ(schedule_for(role, *settings).every, defaults_of(role).every);
    EXPECT_EQ(schedule_for(role, *settings).cuda_empty_cache, defaults_of(role).cuda_empty_cache);
    EXPECT_FALSE(wants_memory_profile(role, *settings));
  }
}

TEST(SettingsFrom, ServersHaveRoundsOfTheirOwn) {
  const auto settings = settings_from(variables_of({{"EBB_SERVER_MEMORY_GC_ROUNDS", "7"},
                                                    {"EBB_MEMORY_GC_ROUNDS", "2"},
                                                    {"EBB_MEMORY_PROFILE", "1"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(schedule_for(Role::server, *settings).every, 7);
  EXPECT_EQ(schedule_for(Role::aggregator, *settings).every, 7);
  EXPECT_EQ(schedule_for(Role::trainer, *settings).every, 2);
  EXPECT_EQ(schedule_for(Role::simulator, *settings).every, 2);
  EXPECT_TRUE(wants_memory_profile(Role::server, *settings));
}

TEST(SettingsFrom, OwnNamesWin) {
  const auto settings = settings_from(variables_of({{"EBB_MEMORY_GC_ROUNDS", "auto"},
                                                    {"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "3"},
                                                    {"EBB_CUDA_EMPTY_CACHE", "0"},
                                                    {"NVFLARE_CUDA_EMPTY_CACHE", "true"},
                                                    {"EBB_ROLE", "trainer"},
                                                    {"EBB_DISABLE", "1"}}));
  ASSERT_TRUE(settings);
  EXPECT_TRUE(schedule_for(Role::client, *settings).automatic);
  EXPECT_FALSE(schedule_for(Role::client, *settings).cuda_empty_cache);
  EXPECT_EQ(settings->own_role(), Role::trainer);
  EXPECT_TRUE(settings->disabled);
}

TEST(IsDisabled, MeansTheSameEverywhere) {
  for (const char* value : {"1", "true", "YES"})
    EXPECT_TRUE(*is_disabled(variables_of({{"EBB_DISABLE", value}}))) << value;
  for (const char* value : {"0", "False", "no", ""})
    EXPECT_FALSE(*is_disabled(variables_of({{"EBB_DISABLE", value}}))) << value;
  EXPECT_FALSE(*is_disabled(variables_of({})));
  EXPECT_FALSE(is_disabled(variables_of({{"EBB_DISABLE", "on"}})));
}

TEST(SettingsFrom, NamesTheVariableThatIsWrong) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"EBB_MEMORY_GC_ROUNDS", "-1"},
                                          {"NVFLARE_CLIENT_MEMORY_GC_ROUNDS", "1.5"},
                                          {"EBB_SERVER_MEMORY_GC_ROUNDS", "x"},
                                          {"EBB_CUDA_EMPTY_CACHE", "perhaps"},
                                          {"EBB_ROLE", "chef"},
                                          {"EBB_DISABLE", "2"},
                                          {"EBB_MEMORY_PROFILE", "on"}}) {
    const auto settings = settings_from(variables_of({{name, value}}));
    ASSERT_FALSE(settings) << name;
    EXPECT_EQ(settings.error().code, base::Code::bad_input);
    EXPECT_NE(settings.error().message.find(name), std::string::npos) << settings.error().message;
    EXPECT_NE(settings.error().message.find("expected"), std::string::npos);
  }
}

TEST(ScheduleFor, TakesTheRolesDefaultsUnlessTold) {
  EXPECT_EQ(schedule_for(Role::server, {}).every, 5);
  Settings told;
  told.all.rounds = RoundSchedule{false, 0, false};
  told.all.cuda_empty_cache = false;
  EXPECT_EQ(schedule_for(Role::client, told).every, 0);
  EXPECT_FALSE(schedule_for(Role::client, told).cuda_empty_cache);
}

}  // namespace
}  // namespace ebb::keep
