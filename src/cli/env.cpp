// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

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

void add_env(CLI::App& program, Action& action) {
  auto options = std::make_shared<EnvOptions>();
  CLI::App* verb =
      program.add_subcommand("env", "The recommended environment of a job, as lines for a shell");
  verb->add_option("--role", options->role, "server, client, trainer, aggregator or simulator")
      ->required();
  verb->add_option("--allocator", options->allocator,
                   "glibc (kept), jemalloc, tcmalloc or mimalloc")
      ->capture_default_str();
  verb->add_option("--shell", options->shell, "sh, fish or docker (ENV lines of a Dockerfile)")
      ->capture_default_str();
  verb->add_flag("--json", options->json, "One JSON object (docs/env.md)");
  verb->footer(
      "Examples:\n  eval \"$(ebb env --role server)\"\n"
      "  ebb env --role client --allocator jemalloc --shell fish | source\n"
      "  ebb env --role trainer --allocator mimalloc --shell docker >> Dockerfile");
  verb->callback([options, &action] { action = [options] { return run_env(*options); }; });
}

}  // namespace ebb::cli
