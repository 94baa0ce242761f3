// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <string_view>
#include <vector>

#include "base/standard_streams.h"
#include "cli/simulate/verbs.h"
#include "cli/verb.h"
#include "fl/ranks.h"
#include "fl/simulator_program.h"
#include "run/last_resort.h"

namespace ebb::cli {

int complain(const base::Error& error) {
  say(error.message);
  return status_of(error.code);
}

namespace {

/// `ebb tune [options] -- command`.
bool is_tuning_of_a_command(const std::vector<char*>& words) {
  return words.size() > 2 && std::string_view(words[1]) == "tune" &&
         std::any_of(words.begin() + 2, words.end(),
                     [](const char* word) { return std::string_view(word) == "--"; });
}

bool starts_a_command(const std::vector<char*>& words) {
  return (words.size() > 1 && std::string_view(words[1]) == "run") || is_tuning_of_a_command(words);
}

bool names_the_simulator(int count, char** words) {
  return count > 1 &&
         (words[1] == std::string_view("simulate") || words[1] == std::string_view("compare"));
}

int run(int count, char** words) {
  std::vector<char*> given(words, words + count);
  if (!starts_a_command(given)) base::outlive_limits_of_files();
  // Of several processes of one simulation the first says what is wrong, for all of them.
  if (names_the_simulator(count, words) && (fl::rank_by_environment() != 0 || !fl::has_simulator()))
    return complain(fl::become_simulator(words));
  Program program(
      "", "Keeps the memory of long machine-learning jobs flat, and says why when it is not.",
      std::string("ebb ") + EBB_VERSION,
      "Examples:\n"
      "  ebb run -- python3 train.py\n"
      "  ebb info\n"
      "  ebb info 4242 --json\n"
      "  ebb watch 4242\n"
      "  eval \"$(ebb env --role server)\"\n"
      "  ebb doctor snapshot.pickle\n"
      "  ebb tune snapshot.pickle\n"
      "  ebb plan transformer gpt2 --batch 4\n"
      "  ebb compare --methods heuristic.random,system_aware.oort");
  for (const auto add : {add_info, add_env, add_run, add_watch, add_report, add_runs, add_serve,
                         add_replay, add_tune, add_tune_command, add_doctor, add_plan})
    add(program.verbs());
  add_simulating(program.verbs(),
                 [words](const SimulateOrder&) { return complain(fl::become_simulator(words)); });
  std::string tune_command = kTuneCommand;
  if (is_tuning_of_a_command(given)) given[1] = tune_command.data();
  return program.run(count, given.data());
}

}  // namespace
}  // namespace ebb::cli

namespace {

int fail(const std::exception& failure) {
  try {
    ebb::cli::say(std::string("internal error: ") + failure.what());
  } catch (const std::bad_alloc&) {
    ebb::run::say_without_memory("internal error");
  }
  return ebb::cli::kFailed;
}

}  // namespace

int main(int count, char** words) {
  ebb::run::arm_last_resort(count, words);
  ebb::base::hold_standard_streams();
  try {
    return ebb::cli::run(count, words);
  } catch (const std::bad_alloc&) {
    ebb::run::say_without_memory("out of memory");
    return ebb::cli::kFailed;
  } catch (const std::exception& failure) {
    return fail(failure);
  }
}
