// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/option.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 is named so
class App;
}

namespace ebb::cli {

/// What --help says of a verb.
struct VerbHelp {
  const char* name;
  const char* help;
  const char* examples = "";
  bool is_listed = true;
};

/// A verb, or the program itself, to which verbs are added. A handle: the Program owns what it
/// stands for. Verbs are described as data; CLI11 is known to program.cpp alone.
class Verb {
 public:
  /// Gives the exit status.
  using Action = std::function<int()>;

  /// A verb below this one. `run` is called once the options are set, those of the verbs above it
  /// first. Where it is empty, one of the verbs below has to be named.
  Verb add(const VerbHelp& about, base::Options options = {}, Action run = {});

  /// The same with the words of the command line in a struct that has options_of().
  template <class Words>
  Verb add(const VerbHelp& about, int (*run)(const Words&)) {
    auto words = std::make_shared<Words>();
    return add(about, options_of(*words), [words, run] { return run(*words); });
  }

 private:
  friend class Program;
  Verb(CLI::App& app, Action& action) : app_(&app), action_(&action) {}

  CLI::App* app_;
  Action* action_;
};

class Program {
 public:
  /// `name` empty: as it was called. `version` is what --version prints.
  Program(const char* name, const char* help, const std::string& version,
          const char* examples = "");
  ~Program();

  Verb verbs();

  /// Reads the command line and runs the verb that it names; the help where it names none. Gives
  /// the exit status. A word that is unknown is told with the nearest known one. `speaks`: whether
  /// --help and --version print.
  int run(int count, char** words, bool speaks = true);

 private:
  std::unique_ptr<CLI::App> app_;
  Verb::Action action_;
};

}  // namespace ebb::cli
