// SPDX-License-Identifier: Apache-2.0
#include "keep/settings.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <initializer_list>

#include "base/text.h"

namespace ebb::keep {
namespace {

struct Variable {
  std::string name;
  std::string value;
};

std::optional<Variable> first_of(const Environment& environment,
                                 std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = environment(name); value && !value->empty()) return Variable{name, *value};
  return std::nullopt;
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
  const std::string value = lower(variable.value);
  if (value == "1" || value == "true" || value == "yes") return true;
  if (value == "0" || value == "false" || value == "no") return false;
  return unexpected(variable, "true or false");
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

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

base::Result<bool> is_disabled(const Environment& environment) {
  const auto variable = first_of(environment, {"EBB_DISABLE"});
  return variable ? truth_of(*variable) : base::Result<bool>(false);
}

base::Result<Settings> settings_from(const Environment& environment) {
  Settings settings;
  const auto read_flag = [](const std::optional<Variable>& variable, auto& flag) -> base::Status {
    if (!variable) return {};
    const base::Result<bool> truth = truth_of(*variable);
    if (!truth) return truth.error();
    flag = *truth;
    return {};
  };
  const base::Result<bool> disabled = is_disabled(environment);
  if (!disabled) return disabled.error();
  settings.disabled = *disabled;
  base::Status read =
      read_flag(first_of(environment, {"EBB_CUDA_EMPTY_CACHE", "NVFLARE_CUDA_EMPTY_CACHE"}),
                settings.cuda_empty_cache);
  if (read) {
    read = read_flag(first_of(environment, {"EBB_MEMORY_PROFILE", "NVFLARE_CLIENT_MEMORY_PROFILE"}),
                     settings.memory_profile);
  }
  if (!read) return read.error();
  if (const auto role = first_of(environment, {"EBB_ROLE"})) {
    const base::Result<Role> known = role_from(role->value);
    if (!known)
      return base::error(base::Code::bad_input, "EBB_ROLE: %s", known.error().message.c_str());
    settings.role = *known;
  }
  if (const auto rounds =
          first_of(environment, {"EBB_MEMORY_GC_ROUNDS", "NVFLARE_CLIENT_MEMORY_GC_ROUNDS"})) {
    const base::Result<RoundSchedule> schedule = rounds_of(*rounds);
    if (!schedule) return schedule.error();
    settings.rounds = *schedule;
  }
  return settings;
}

RoundSchedule schedule_for(Role role, const Settings& settings) {
  const RoleDefaults defaults = defaults_of(role);
  RoundSchedule schedule{false, defaults.every, defaults.cuda_empty_cache};
  if (settings.rounds) {
    schedule.automatic = settings.rounds->automatic;
    schedule.every = settings.rounds->every;
  }
  if (settings.cuda_empty_cache) schedule.cuda_empty_cache = *settings.cuda_empty_cache;
  return schedule;
}

}  // namespace ebb::keep
