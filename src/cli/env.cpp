// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "cli/answer.h"
#include "cli/verb.h"
#include "keep/job_environment.h"
#include "keep/start_script.h"

namespace ebb::cli {
namespace {

constexpr base::Range kArenas = {"1 to 4096", 1, true, 4096};

struct EnvOptions {
  std::string role;
  std::string allocator;
  std::optional<int> arenas;
  std::string shell = "sh";
  bool json = false;
};

base::Options options_of(EnvOptions& o) {
  return {
      {"role", &o.role, "server, client, trainer, aggregator or simulator", {}, nullptr, true},
      {.key = "allocator",
       .place = &o.allocator,
       .help = "glibc (kept), jemalloc, tcmalloc or mimalloc",
       .shown = "glibc"},
      {"arenas",
       &o.arenas,
       "Arenas of glibc, e.g. 8 for many threads (as suits the role)",
       {},
       &kArenas},
      {"shell", &o.shell, "sh, fish, docker (ENV lines of a Dockerfile) or script (starts a job)"},
      {"json", &o.json, "One JSON object (docs/env.md)"},
  };
}

int print_script(const EnvOptions& options, keep::Role role) {
  if (options.json)
    return complain(
        base::error(base::Code::bad_input, "--shell script and --json: expected one of the two"));
  const auto use = keep::jemalloc_use_for(options.allocator);
  if (!use) return complain(use.error());
  answer(keep::start_script(role, *use, options.arenas));
  return kDone;
}

int run_env(const EnvOptions& options) {
  const base::Result<keep::Role> role = keep::role_from(options.role);
  if (!role) return complain(role.error());
  const base::Result<keep::ShellSyntax> syntax = keep::shell_syntax_from(options.shell);
  if (!syntax) return complain(syntax.error());
  if (*syntax == keep::ShellSyntax::script) return print_script(options, *role);
  const auto [allocator, note] = keep::chosen_allocator(options.allocator, options.arenas);
  if (!note.empty()) say(note + "; glibc stays");
  const auto variables = keep::job_environment_for(*role, allocator, options.arenas);
  if (!variables) return complain(variables.error());
  if (options.json) {
    answer_json(base::Json::object({{"role", options.role},
                                    {"allocator", allocator},
                                    {"variables", keep::to_json(*variables)}}),
                true);
    return kDone;
  }
  answer(keep::environment_text(*variables, *syntax));
  return kDone;
}

}  // namespace

void add_env(Verb program) {
  program.add({"env", "The recommended environment of a job, as lines for a shell",
               "Examples:\n"
               "  eval \"$(ebb env --role server)\"\n"
               "  ebb env --role client --allocator jemalloc --shell fish | source\n"
               "  ebb env --role trainer --allocator mimalloc --shell docker >> Dockerfile\n"
               "  ebb env --role client --shell script > start.sh && sh start.sh python job.py"},
              run_env);
}

}  // namespace ebb::cli
