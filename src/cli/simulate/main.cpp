// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/simulate/session.h"
#include "cli/simulator.h"
#include "cli/verb.h"

namespace ebb::cli {

namespace {

constexpr unsigned kSecondsForTheFirst = 10;

bool is_joined = false;

/// As Open MPI and MPICH tell it, also before they are joined.
const char* rank_text() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(name)) return rank;
  return "0";
}

}  // namespace

bool is_first_rank() {
  return !fl::started_by_mpi() || std::string_view(rank_text()) == "0";
}

base::Result<std::unique_ptr<fl::Ranks>> join_ranks() {
  if (!fl::started_by_mpi()) return fl::alone();
  std::error_code ignored;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  // As built and as installed.
  for (const char* folder : {"../lib/ebb", "../" EBB_LIBRARY_FOLDER "/ebb", "../lib"}) {
    const std::filesystem::path library = here / folder / "libebb-mpi.so";
    if (!std::filesystem::exists(library, ignored)) continue;
    auto ranks = fl::join_mpi(library);
    is_joined = ranks.has_value();
    return ranks;
  }
  return base::error(base::Code::unavailable,
                     "started by mpirun, but this build has no libebb-mpi.so (expected in %s)",
                     (here / "../lib/ebb").c_str());
}

const std::vector<std::string>& command_line() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    const std::string text = base::read_file("/proc/self/cmdline", 1 << 20).value_or("");
    for (const std::string_view word : base::split(text, '\0'))
      all.emplace_back(word);
    if (!all.empty() && all.back().empty()) all.pop_back();
    if (!all.empty()) all.front() = "ebb";
    return all;
  }();
  return words;
}

int complain(const base::Error& error) {
  if (is_first_rank()) {
    std::fprintf(stderr, "ebb: %s\n", error.message.c_str());
  } else {
    // What fails on all ranks, the first one says, and mpirun ends this process with it: whoever is
    // still there after a while has a trouble of its own.
    std::signal(SIGTERM, SIG_DFL);
    ::sleep(kSecondsForTheFirst);
    if (is_joined) std::fprintf(stderr, "ebb: rank %s: %s\n", rank_text(), error.message.c_str());
  }
  return status_of(error.code);
}

namespace {

/// The first option that the verb does not have: most likely a typing error.
std::string unknown_option(const CLI::App& program, int count, char** words) {
  if (count < 2) return {};
  const std::vector<const CLI::App*> verbs =
      program.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == words[1]; });
  if (verbs.empty()) return {};
  std::vector<std::string> names;
  for (const CLI::Option* option : verbs.front()->get_options())
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (int i = 2; i < count; ++i) {
    const std::string_view word =
        std::string_view(words[i]).substr(0, std::string_view(words[i]).find('='));
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end())
      continue;
    std::string line = "unknown option '" + std::string(word) + "'";
    if (const auto guess = base::nearest(word, known))
      line += ": did you mean " + std::string(*guess) + "?";
    return line + " (ebb " + words[1] + " --help lists them)";
  }
  return {};
}

int run(int count, char** words) {
  CLI::App program{"Federated learning, simulated within a bounded memory.", "ebb"};
  program.set_version_flag("--version", std::string("ebb-simulate ") + EBB_VERSION);
  program.require_subcommand(1);
  Action action;
  add_simulate(program, action);
  add_compare(program, action);
  try {
    program.parse(count, words);
  } catch (const CLI::Success& asked) {
    return is_first_rank() ? program.exit(asked) : kDone;  // --help, --version
  } catch (const CLI::ParseError& wrong) {
    std::string line = unknown_option(program, count, words);
    if (line.empty()) line = std::string(wrong.what()) + " (see ebb simulate --help)";
    return complain(base::Error{base::Code::bad_input, line, 0});
  }
  return action();
}

}  // namespace
}  // namespace ebb::cli

int main(int count, char** words) {
  if (ebb::cli::set_simulator_environment()) {
    ::execv("/proc/self/exe", words);
    std::perror("ebb: cannot start /proc/self/exe again");
    return ebb::cli::kFailed;
  }
  try {
    return ebb::cli::run(count, words);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "ebb: internal error: %s\n", failure.what());
    return ebb::cli::kFailed;
  }
}
