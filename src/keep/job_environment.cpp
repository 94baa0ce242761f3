// SPDX-License-Identifier: Apache-2.0
#include "keep/job_environment.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace ebb::keep {
namespace {

using heap::AllocatorKind;

/// Safe between double quotes in sh, fish and a Dockerfile.
std::string escaped(const std::string& value, ShellSyntax syntax) {
  std::string out;
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '$' || (syntax == ShellSyntax::sh && c == '`')) out += '\\';
    out += c;
  }
  return out;
}

/// Whether it is read as it stands inside ${NAME:-…}, where shells differ in what they make of
/// quotes.
bool is_plain(const std::string& value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.,:/=+@%-").find(c) != std::string_view::npos;
  });
}

/// Lines of sh and of a Dockerfile, which expands variables in the same way.
std::string braces_line(const char* verb, const EnvironmentVariable& variable, ShellSyntax syntax) {
  const std::string value = escaped(variable.value, syntax);
  const char* name = variable.name.c_str();
  switch (variable.place) {
    case Placement::if_unset:
      if (syntax == ShellSyntax::sh && !is_plain(variable.value)) {
        return base::format_text("[ -n \"${%s:-}\" ] || %s=\"%s\"; export %s", name, name,
                                 value.c_str(), name);
      }
      return base::format_text("%s %s=\"${%s:-%s}\"", verb, name, name, value.c_str());
    case Placement::front:
      return base::format_text("%s %s=\"%s${%s:+:$%s}\"", verb, name, value.c_str(), name, name);
    case Placement::back:
      return base::format_text("%s %s=\"${%s:+$%s:}%s\"", verb, name, name, name, value.c_str());
  }
  return {};
}

std::string fish_line(const EnvironmentVariable& variable) {
  const std::string value = escaped(variable.value, ShellSyntax::fish);
  const char* name = variable.name.c_str();
  switch (variable.place) {
    case Placement::if_unset:
      return base::format_text("set -q %s; or set -gx %s \"%s\"", name, name, value.c_str());
    case Placement::front:
      return base::format_text("set -gx %s (string join : -- \"%s\" $%s)", name, value.c_str(),
                               name);
    case Placement::back:
      return base::format_text("set -gx %s (string join : -- $%s \"%s\")", name, name,
                               value.c_str());
  }
  return {};
}

std::string line_for(const EnvironmentVariable& variable, ShellSyntax syntax) {
  if (syntax == ShellSyntax::fish) return fish_line(variable);
  return braces_line(syntax == ShellSyntax::sh ? "export" : "ENV", variable, syntax);
}

void add_glibc(std::vector<EnvironmentVariable>& variables, Role role, std::optional<int> chosen) {
  const int arenas = chosen.value_or(defaults_of(role).arenas);
  std::string why = "otherwise glibc makes 8 arenas per core, each with free memory of its own";
  if (!chosen) why += base::format_text("; %d is enough for a %s", arenas, name_of(role));
  variables.push_back({"MALLOC_ARENA_MAX", std::to_string(arenas), why});
  // Training frees large tensors: a fixed threshold costs it 7 %, a server 80 % (every result is
  // mapped and unmapped), so servers rely on trimming instead.
  if (role == Role::trainer || role == Role::client) {
    variables.push_back({"MALLOC_TRIM_THRESHOLD_", "131072",
                         "otherwise the first freed tensor raises it to 60 MiB per arena"});
  }
  variables.push_back({"GLIBC_TUNABLES", "glibc.mem.decorate_maps=1",
                       "glibc 2.39 and later name their mappings, so that readings are exact",
                       Placement::front});
}

}  // namespace

base::Result<ShellSyntax> shell_syntax_from(std::string_view name) {
  if (name == "sh") return ShellSyntax::sh;
  if (name == "fish") return ShellSyntax::fish;
  if (name == "docker") return ShellSyntax::docker;
  if (name == "script") return ShellSyntax::script;
  return base::error(base::Code::bad_input,
                     "unknown shell '%.*s': expected sh, fish, docker or script",
                     static_cast<int>(name.size()), name.data());
}

std::vector<EnvironmentVariable> job_environment(
    Role role, const std::optional<heap::InstalledAllocator>& allocator,
    std::optional<int> arenas) {
  std::vector<EnvironmentVariable> variables;
  const AllocatorKind kind = allocator ? allocator->kind : AllocatorKind::glibc;
  if (kind == AllocatorKind::glibc) {
    add_glibc(variables, role, arenas);
    return variables;
  }
  variables.push_back({"LD_PRELOAD", allocator->path,
                       base::format_text("%s serves malloc instead of glibc", heap::name_of(kind)),
                       Placement::back});
  if (kind == AllocatorKind::jemalloc) {
    variables.push_back(
        {"MALLOC_CONF", kJemallocSettings,
         "without its background thread jemalloc returns nothing while the job is idle"});
  } else if (kind == AllocatorKind::tcmalloc) {
    variables.push_back(
        {"TCMALLOC_RELEASE_RATE", "10",
         "returns memory sooner while the job is freeing; the rest needs a cleanup"});
  } else if (kind == AllocatorKind::mimalloc) {
    variables.push_back(
        {allocator->has_purge_delay ? "MIMALLOC_PURGE_DELAY" : "MIMALLOC_DECOMMIT_DELAY", "0",
         "mimalloc cannot be told from outside to return memory: let it do so at once"});
  }
  return variables;
}

base::Result<std::vector<EnvironmentVariable>> job_environment_for(Role role,
                                                                   std::string_view allocator,
                                                                   std::optional<int> arenas) {
  const std::optional<AllocatorKind> kind = heap::allocator_kind_from(allocator);
  if (!kind || *kind == AllocatorKind::musl || *kind == AllocatorKind::unknown) {
    return base::error(base::Code::bad_input,
                       "unknown allocator '%.*s': expected glibc, jemalloc, tcmalloc or mimalloc",
                       static_cast<int>(allocator.size()), allocator.data());
  }
  if (*kind == AllocatorKind::glibc) return job_environment(role, std::nullopt, arenas);
  if (arenas) {
    return base::error(base::Code::bad_input, "arenas %d with %s: expected glibc, whose they are",
                       *arenas, heap::name_of(*kind));
  }
  base::Result<heap::InstalledAllocator> installed = heap::find_installed(*kind);
  if (!installed) return installed.error();
  return job_environment(role, *installed);
}

bool wants_jemalloc(const Environment& environment) {
  return environment("NVFLARE_ENABLE_JEMALLOC_PRELOAD") == "true";
}

DefaultAllocator default_allocator(const std::string& otherwise, const Environment& environment,
                                   const std::string& root) {
  if (!wants_jemalloc(environment)) return {otherwise, ""};
  const auto installed = heap::find_installed(AllocatorKind::jemalloc, root);
  if (installed) return {heap::name_of(AllocatorKind::jemalloc), ""};
  return {otherwise, "NVFLARE_ENABLE_JEMALLOC_PRELOAD: " + installed.error().message};
}

DefaultAllocator chosen_allocator(const std::string& asked, std::optional<int> arenas) {
  if (!asked.empty()) return {asked, ""};
  return arenas ? DefaultAllocator{"glibc", ""} : default_allocator("glibc");
}

base::Json to_json(const std::vector<EnvironmentVariable>& variables) {
  base::Json list = base::Json::array();
  for (const EnvironmentVariable& variable : variables) {
    list.push(base::Json::object({{"name", variable.name},
                                  {"value", variable.value},
                                  {"prepend", variable.place == Placement::front},
                                  {"append", variable.place == Placement::back},
                                  {"if_unset", variable.place == Placement::if_unset},
                                  {"why", variable.why}}));
  }
  return list;
}

std::string environment_text(const std::vector<EnvironmentVariable>& variables,
                             ShellSyntax syntax) {
  std::string text;
  for (const EnvironmentVariable& variable : variables)
    text += "# " + variable.why + "\n" + line_for(variable, syntax) + "\n";
  return text;
}

}  // namespace ebb::keep
