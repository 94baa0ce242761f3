// SPDX-License-Identifier: Apache-2.0
#include "keep/environment_check.h"

#include "sense/process_environment.h"

namespace ebb::keep {
namespace {

using heap::AllocatorKind;

/// The agent's file: with it, `ebb run` decides when to clean up.
constexpr std::string_view kAgent = "libebb-agent";

class Given {
 public:
  explicit Given(const Environment& environment) : environment_(environment) {}

  bool has(const char* name) const { return !text(name).empty(); }
  bool says(const char* name, std::string_view part) const {
    return text(name).find(part) != std::string::npos;
  }

 private:
  std::string text(const char* name) const { return environment_(name).value_or(""); }

  const Environment& environment_;
};

/// Whether the process has what the variable is recommended for, by this name or another.
bool is_there(const Given& given, const EnvironmentVariable& variable) {
  if (variable.name == "MALLOC_ARENA_MAX")
    return given.has("MALLOC_ARENA_MAX") || given.says("GLIBC_TUNABLES", "glibc.malloc.arena_max=");
  if (variable.name == "MALLOC_TRIM_THRESHOLD_")
    return given.has("MALLOC_TRIM_THRESHOLD_") ||
           given.says("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=");
  if (variable.name == "MALLOC_CONF")
    return given.says("MALLOC_CONF", "dirty_decay_ms:") &&
           given.says("MALLOC_CONF", "background_thread:true");
  if (variable.name.starts_with("MIMALLOC_"))
    return given.has("MIMALLOC_PURGE_DELAY") || given.has("MIMALLOC_DECOMMIT_DELAY");
  return given.has(variable.name.c_str());
}

/// What decides about memory. The allocator is there already, and names of mappings only help to
/// read it.
bool decides(const EnvironmentVariable& variable) {
  return variable.name != "LD_PRELOAD" && variable.name != "GLIBC_TUNABLES";
}

std::vector<EnvironmentVariable> recommended(Role role, AllocatorKind kind) {
  if (kind == AllocatorKind::glibc) return job_environment(role, std::nullopt);
  if (kind == AllocatorKind::musl || kind == AllocatorKind::unknown) return {};
  heap::InstalledAllocator allocator;
  allocator.has_purge_delay = true;
  if (const auto installed = heap::find_installed(kind)) allocator = *installed;
  allocator.kind = kind;
  return job_environment(role, allocator);
}

EnvironmentVariable rounds_variable(Role role) {
  return {"EBB_MEMORY_GC_ROUNDS", std::to_string(defaults_of(role).every),
          "says after how many rounds to clean up; for NVFlare's own clients it is "
          "NVFLARE_CLIENT_MEMORY_GC_ROUNDS; under ebb run neither is needed"};
}

}  // namespace

EnvironmentCheck check_environment(const Environment& environment, AllocatorKind allocator) {
  EnvironmentCheck check;
  check.allocator = allocator;
  const Given given(environment);
  const auto settings = settings_from(environment);
  if (settings) {
    check.role_is_told = settings->role.has_value();
    check.role = settings->own_role();
  } else {
    check.trouble = settings.error().message;
  }
  for (const EnvironmentVariable& variable : recommended(check.role, allocator))
    if (decides(variable) && !is_there(given, variable)) check.missing.push_back(variable);
  const bool has_rounds = settings && settings->of(check.role).rounds;
  if (settings && !has_rounds && !given.says("LD_PRELOAD", kAgent))
    check.missing.push_back(rounds_variable(check.role));
  return check;
}

EnvironmentCheck check_environment_of(pid_t pid, AllocatorKind allocator,
                                      const sense::Roots& roots) {
  const auto variables = sense::read_environment(pid, roots);
  if (!variables) {
    EnvironmentCheck check;
    check.allocator = allocator;
    check.trouble = variables.error().message;
    return check;
  }
  const auto look_up = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables->find(name);
    if (found == variables->end()) return std::nullopt;
    return found->second;
  };
  return check_environment(look_up, allocator);
}

base::Json to_json(const EnvironmentCheck& check) {
  return base::Json::object({{"role", name_of(check.role)},
                             {"role_is_told", check.role_is_told},
                             {"allocator", heap::name_of(check.allocator)},
                             {"missing", to_json(check.missing)},
                             {"trouble", check.trouble}});
}

}  // namespace ebb::keep
