// SPDX-License-Identifier: Apache-2.0
#include "keep/job_environment.h"

#include "base/text.h"

namespace ebb::keep {
namespace {

using heap::AllocatorKind;

/// Safe between single quotes in sh and fish; paths here hold no quote, but nothing promises it.
std::string quoted(const std::string& value, ShellSyntax syntax) {
  const char quote = syntax == ShellSyntax::docker ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : value) {
    if (syntax == ShellSyntax::sh && c == '\'') {
      out += "'\\''";
    } else if ((syntax == ShellSyntax::fish && (c == '\'' || c == '\\')) ||
               (syntax == ShellSyntax::docker && (c == '"' || c == '\\' || c == '$'))) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string line_for(const EnvironmentVariable& variable, ShellSyntax syntax) {
  const std::string value = quoted(variable.value, syntax);
  const char* name = variable.name.c_str();
  switch (syntax) {
    case ShellSyntax::sh:
      if (variable.prepend)
        return base::format_text("export %s=%s${%s:+:$%s}", name, value.c_str(), name, name);
      return base::format_text("export %s=%s", name, value.c_str());
    case ShellSyntax::fish:
      if (variable.prepend)
        return base::format_text("set -gx %s (string join : -- %s $%s)", name, value.c_str(), name);
      return base::format_text("set -gx %s %s", name, value.c_str());
    case ShellSyntax::docker:
      return base::format_text("ENV %s=%s", name, value.c_str());
  }
  return {};
}

void add_glibc(std::vector<EnvironmentVariable>& variables, Role role) {
  const int arenas = defaults_of(role).arenas;
  variables.push_back(
      {"MALLOC_ARENA_MAX", std::to_string(arenas),
       base::format_text("otherwise glibc makes 8 arenas per core, each with free memory "
                         "of its own; %d is enough for a %s",
                         arenas, name_of(role))});
  // Training frees large tensors: a fixed threshold costs it 7 %, a server 80 % (every result is
  // mapped and unmapped), so servers rely on trimming instead.
  if (role == Role::trainer || role == Role::client) {
    variables.push_back({"MALLOC_TRIM_THRESHOLD_", "131072",
                         "otherwise the first freed tensor raises it to 60 MiB per arena"});
  }
  variables.push_back({"GLIBC_TUNABLES", "glibc.mem.decorate_maps=1",
                       "glibc 2.39 and later name their mappings, so that readings are exact",
                       true});
}

}  // namespace

base::Result<ShellSyntax> shell_syntax_from(std::string_view name) {
  if (name == "sh") return ShellSyntax::sh;
  if (name == "fish") return ShellSyntax::fish;
  if (name == "docker") return ShellSyntax::docker;
  return base::error(base::Code::bad_input, "unknown shell '%.*s': expected sh, fish or docker",
                     static_cast<int>(name.size()), name.data());
}

std::vector<EnvironmentVariable> job_environment(
    Role role, const std::optional<heap::InstalledAllocator>& allocator) {
  std::vector<EnvironmentVariable> variables;
  const AllocatorKind kind = allocator ? allocator->kind : AllocatorKind::glibc;
  if (kind == AllocatorKind::glibc) {
    add_glibc(variables, role);
    return variables;
  }
  variables.push_back({"LD_PRELOAD", allocator->path,
                       base::format_text("%s serves malloc instead of glibc", heap::name_of(kind)),
                       true});
  if (kind == AllocatorKind::jemalloc) {
    variables.push_back(
        {"MALLOC_CONF", "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0",
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
                                                                   std::string_view allocator) {
  const std::optional<AllocatorKind> kind = heap::allocator_kind_from(allocator);
  if (!kind || *kind == AllocatorKind::musl || *kind == AllocatorKind::unknown) {
    return base::error(base::Code::bad_input,
                       "unknown allocator '%.*s': expected glibc, jemalloc, tcmalloc or mimalloc",
                       static_cast<int>(allocator.size()), allocator.data());
  }
  if (*kind == AllocatorKind::glibc) return job_environment(role, std::nullopt);
  base::Result<heap::InstalledAllocator> installed = heap::find_installed(*kind);
  if (!installed) return installed.error();
  return job_environment(role, *installed);
}

base::Json to_json(const EnvironmentVariable& variable) {
  return base::Json::object({{"name", variable.name},
                             {"value", variable.value},
                             {"prepend", variable.prepend},
                             {"why", variable.why}});
}

std::string environment_text(const std::vector<EnvironmentVariable>& variables,
                             ShellSyntax syntax) {
  std::string text;
  for (const EnvironmentVariable& variable : variables)
    text += "# " + variable.why + "\n" + line_for(variable, syntax) + "\n";
  return text;
}

}  // namespace ebb::keep
