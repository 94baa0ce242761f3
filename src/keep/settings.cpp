// SPDX-License-Identifier: Apache-2.0
#include "keep/settings.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>

#include "base/text.h"
#include "base/truth_word.h"

namespace ebb::keep {
namespace {

struct Variable {
  std::string name;
  std::string value;
};

std::optional<Variable> variable_of(const Environment& environment, const char* name) {
  auto value = environment(name);
  if (!value || value->empty()) return std::nullopt;
  return Variable{name, *std::move(value)};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

base::Error unexpected(const Variable& variable, const char* expected) {
  return base::error(base::Code::bad_input, "%s='%s': expected %s", variable.name.c_str(),
                     variable.value.c_str(), expected);
}

base::Result<bool> truth_of(const Variable& variable) {
  const auto truth = base::truth_of_word(variable.value);
  return truth ? base::Result<bool>(*truth) : unexpected(variable, "true or false");
}

base::Result<RoundSchedule> rounds_of(const Variable& variable) {
  RoundSchedule schedule;
  if (lower(variable.value) == "auto") {
    schedule.automatic = true;
    return schedule;
  }
  const auto number = base::parse_unsigned(variable.value);
  if (!number || *number > static_cast<unsigned>(INT_MAX))
    return unexpected(variable, "a number of rounds, 0 (off) or more, or auto");
  schedule.every = static_cast<int>(*number);
  return schedule;
}

/// Sets `place` to what `parse` makes of the variable, where it is set.
template <class Value, class Parse>
base::Status read(const Environment& environment, const char* name, Parse parse,
                  std::optional<Value>& place) {
  const auto variable = variable_of(environment, name);
  if (!variable) return {};
  const base::Result<Value> value = parse(*variable);
  if (!value) return value.error();
  place = *value;
  return {};
}

base::Result<Role> role_of(const Variable& variable) {
  const base::Result<Role> role = role_from(variable.value);
  if (role) return role;
  return base::error(base::Code::bad_input, "%s: %s", variable.name.c_str(),
                     role.error().message.c_str());
}

template <class Value>
void prefer(const std::optional<Value>& first, std::optional<Value>& value) {
  if (first) value = first;
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

base::Result<bool> is_disabled(const Environment& environment) {
  const auto variable = variable_of(environment, "EBB_DISABLE");
  return variable ? truth_of(*variable) : base::Result<bool>(false);
}

base::Result<Settings> settings_from(const Environment& environment) {
  Settings settings;
  const base::Result<bool> disabled = is_disabled(environment);
  if (!disabled) return disabled.error();
  settings.disabled = *disabled;
  base::Status status = read(environment, "EBB_ROLE", role_of, settings.role);
  const auto also = [&](const char* name, auto parse, auto& place) {
    if (status) status = read(environment, name, parse, place);
  };
  also("EBB_MEMORY_GC_ROUNDS", rounds_of, settings.all.rounds);
  also("EBB_CUDA_EMPTY_CACHE", truth_of, settings.all.cuda_empty_cache);
  also("EBB_MEMORY_PROFILE", truth_of, settings.all.memory_profile);
  also("EBB_SERVER_MEMORY_GC_ROUNDS", rounds_of, settings.servers.rounds);
  also("NVFLARE_CLIENT_MEMORY_GC_ROUNDS", rounds_of, settings.clients.rounds);
  also("NVFLARE_CUDA_EMPTY_CACHE", truth_of, settings.clients.cuda_empty_cache);
  also("NVFLARE_CLIENT_MEMORY_PROFILE", truth_of, settings.clients.memory_profile);
  if (!status) return status.error();
  return settings;
}

Wishes Settings::of(Role asked) const {
  const bool is_client = asked == Role::client || asked == Role::trainer;
  const bool is_server = asked == Role::server || asked == Role::aggregator;
  Wishes wishes = is_client ? clients : Wishes{};
  prefer(all.rounds, wishes.rounds);
  prefer(all.cuda_empty_cache, wishes.cuda_empty_cache);
  prefer(all.memory_profile, wishes.memory_profile);
  if (is_server) prefer(servers.rounds, wishes.rounds);
  return wishes;
}

RoundSchedule schedule_for(Role role, const Settings& settings) {
  const RoleDefaults defaults = defaults_of(role);
  const Wishes wishes = settings.of(role);
  RoundSchedule schedule = wishes.rounds.value_or(RoundSchedule{false, defaults.every, false});
  schedule.cuda_empty_cache = wishes.cuda_empty_cache.value_or(defaults.cuda_empty_cache);
  return schedule;
}

bool wants_memory_profile(Role role, const Settings& settings) {
  return settings.of(role).memory_profile.value_or(false);
}

}  // namespace ebb::keep
