// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "cli/simulator.h"
#include "cli/verb.h"

namespace ebb::cli {

int complain(const base::Error& error) {
  std::fprintf(stderr, "ebb: %s\n", error.message.c_str());
  return status_of(error.code);
}

namespace {

/// The first word that is no option, where it is no verb: most likely a typing error.
std::string unknown_verb(const CLI::App& program, int count, char** words) {
  std::vector<std::string_view> verbs;
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands({}))
    names.push_back(verb->get_name());
  verbs.assign(names.begin(), names.end());
  if (count < 2 || words[1][0] == '-') return {};
  const std::string_view word = words[1];
  if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
  std::string line = "unknown verb '" + std::string(word) + "'";
  if (const auto guess = base::nearest(word, verbs))
    line += ": did you mean " + std::string(*guess) + "?";
  return line + " (ebb --help lists the verbs)";
}

/// `ebb tune [options] -- command`.
bool is_tuning_of_a_command(const std::vector<char*>& words) {
  return words.size() > 2 && std::string_view(words[1]) == "tune" &&
         std::any_of(words.begin() + 2, words.end(),
                     [](const char* word) { return std::string_view(word) == "--"; });
}

int run(int count, char** words) {
  CLI::App program{
      "Keeps the memory of long machine-learning jobs flat, and says why when it is not."};
  program.set_version_flag("--version", std::string("ebb ") + EBB_VERSION);
  program.require_subcommand(0, 1);
  program.footer(
      "Examples:\n  ebb run -- python3 train.py\n  ebb info\n  ebb info --pid 4242 --json\n  ebb "
      "watch 4242\n  eval \"$(ebb env "
      "--role server)\"\n  "
      "ebb doctor snapshot.pickle\n  ebb tune snapshot.pickle\n  ebb plan transformer gpt2 --batch "
      "4\n  ebb compare --methods heuristic.random,system_aware.oort");
  Action action;
  add_info(program, action);
  add_env(program, action);
  add_run(program, action);
  add_watch(program, action);
  add_report(program, action);
  add_runs(program, action);
  add_replay(program, action);
  add_tune(program, action);
  add_tune_command(program, action);
  add_doctor(program, action);
  add_plan(program, action);
  program.add_subcommand("simulate", kSimulateHelp);
  program.add_subcommand("compare", kCompareHelp);
  if (names_the_simulator(count, words)) return start_simulator(words);
  if (const std::string line = unknown_verb(program, count, words); !line.empty())
    return complain(base::Error{base::Code::bad_input, line, 0});
  std::vector<char*> given(words, words + count);
  std::string tune_command = kTuneCommand;
  if (is_tuning_of_a_command(given)) given[1] = tune_command.data();
  try {
    program.parse(count, given.data());
  } catch (const CLI::Success& asked) {
    return program.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& wrong) {
    return complain(
        base::Error{base::Code::bad_input, std::string(wrong.what()) + " (see ebb --help)", 0});
  }
  if (!action) {
    std::fputs(program.help().c_str(), stdout);
    return kDone;
  }
  return action();
}

}  // namespace
}  // namespace ebb::cli

int main(int count, char** words) {
  try {
    return ebb::cli::run(count, words);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "ebb: internal error: %s\n", failure.what());
    return ebb::cli::kFailed;
  }
}
