// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/verb.h"
#include "keep/job_environment.h"

namespace ebb::cli {
namespace {

struct EnvOptions {
  std::string role;
  std::string allocator = "glibc";
  std::string shell = "sh";
  bool json = false;
};

base::Options options_of(EnvOptions& o) {
  return {
      {"role", &o.role, "server, client, trainer, aggregator or simulator", {}, nullptr, true},
      {"allocator", &o.allocator, "glibc (kept), jemalloc, tcmalloc or mimalloc"},
      {"shell", &o.shell, "sh, fish or docker (ENV lines of a Dockerfile)"},
      {"json", &o.json, "One JSON object (docs/env.md)"},
  };
}

int run_env(const EnvOptions& options) {
  const base::Result<keep::Role> role = keep::role_from(options.role);
  if (!role) return complain(role.error());
  const base::Result<keep::ShellSyntax> syntax = keep::shell_syntax_from(options.shell);
  if (!syntax) return complain(syntax.error());
  const auto variables = keep::job_environment_for(*role, options.allocator);
  if (!variables) return complain(variables.error());
  if (options.json) {
    base::Json list = base::Json::array();
    for (const keep::EnvironmentVariable& variable : *variables)
      list.push(keep::to_json(variable));
    const base::Json object = base::Json::object(
        {{"role", options.role}, {"allocator", options.allocator}, {"variables", list}});
    std::puts(object.text(true).c_str());
    return kDone;
  }
  std::fputs(keep::environment_text(*variables, *syntax).c_str(), stdout);
  return kDone;
}

}  // namespace

void add_env(Verb program) {
  program.add({"env", "The recommended environment of a job, as lines for a shell",
               "Examples:\n"
               "  eval \"$(ebb env --role server)\"\n"
               "  ebb env --role client --allocator jemalloc --shell fish | source\n"
               "  ebb env --role trainer --allocator mimalloc --shell docker >> Dockerfile"},
              run_env);
}

}  // namespace ebb::cli
