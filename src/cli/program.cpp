// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/verb.h"

namespace ebb::cli {
namespace {

/// An option, and the words that it was given.
struct Given {
  base::Option option;
  std::vector<std::string> words;
};

bool has_dashes(const base::Option& option) {
  return option.names().starts_with("--");
}

const char* type_of(const base::Option& option) {
  if (std::holds_alternative<double*>(option.place) ||
      std::holds_alternative<std::optional<double>*>(option.place))
    return "FLOAT";
  const bool counts = std::holds_alternative<std::uint32_t*>(option.place) ||
                      std::holds_alternative<std::uint64_t*>(option.place) ||
                      std::holds_alternative<std::optional<std::uint64_t>*>(option.place) ||
                      std::holds_alternative<std::optional<int>*>(option.place) ||
                      std::holds_alternative<int*>(option.place);
  return counts ? "UINT" : "TEXT";
}

void add_list(CLI::App& app, Given& given, bool has_places) {
  CLI::Option* added = app.add_option_function<std::vector<std::string>>(
      given.option.names(), [&given](const std::vector<std::string>& all) { given.words = all; },
      base::help_text(given.option));
  added->required(given.option.required);
  // Else the list would take the words that stand by themselves behind it.
  if (has_dashes(given.option) && has_places) added->allow_extra_args(false);
}

void add_option(CLI::App& app, Given& given, bool has_places) {
  const base::Option& option = given.option;
  if (std::holds_alternative<std::vector<std::string>*>(option.place))
    return add_list(app, given, has_places);
  if (std::holds_alternative<bool*>(option.place)) {
    app.add_flag_function(
        option.names(),
        [&given](std::int64_t times) { given.words = {times > 0 ? "true" : "false"}; },
        base::help_text(option));
    return;
  }
  CLI::Option* added = app.add_option_function<std::string>(
      option.names(),
      [&given](const std::string& word) {
        const bool is_alone = !given.option.alone.empty() && word == "true";
        given.words = {is_alone ? std::string(given.option.alone) : word};
      },
      base::help_text(option));
  added->required(option.required);
  if (option.last_counts) added->take_last();
  if (!option.alone.empty()) {
    added->expected(0)->type_name("");
    return;
  }
  added->type_name(type_of(option));
  if (has_dashes(option)) added->default_str(base::default_text(option));
}

/// Code::bad_input for a word that an option does not take, or that is out of its range.
base::Status set_all(const std::vector<Given>& all) {
  for (const Given& given : all) {
    for (const std::string& word : given.words)
      if (const auto set = base::set_text(given.option, word); !set) return set;
    if (const auto right = base::check({given.option}); !right) return right;
  }
  return {};
}

/// The verb that the command line names, with those above it.
std::vector<const CLI::App*> named_verbs(const CLI::App& program, int count, char** words) {
  std::vector<const CLI::App*> verbs = {&program};
  for (int i = 1; i < count && std::string_view(words[i]) != "--"; ++i) {
    for (const CLI::App* verb : verbs.back()->get_subcommands({}))
      if (verb->get_name() == words[i]) {
        verbs.push_back(verb);
        break;
      }
  }
  return verbs;
}

std::string with_guess(std::string line, std::string_view word,
                       const std::vector<std::string>& known) {
  if (const auto guess = base::nearest(word, {known.begin(), known.end()}))
    line += ": did you mean " + std::string(*guess) + "?";
  return line;
}

/// The first word that is no option, where it is no verb: most likely a typing error.
std::string unknown_verb(const CLI::App& program, int count, char** words) {
  if (count < 2 || words[1][0] == '-') return {};
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands({}))
    names.push_back(verb->get_name());
  if (std::find(names.begin(), names.end(), words[1]) != names.end()) return {};
  const std::string line = "unknown verb '" + std::string(words[1]) + "'";
  return with_guess(line, words[1], names) + " (ebb --help lists the verbs)";
}

/// The first option that the verb does not have, likewise.
std::string unknown_option(const std::vector<const CLI::App*>& verbs, const std::string& verb,
                           int count, char** words) {
  std::vector<std::string> names;
  for (const CLI::App* one : verbs)
    for (const CLI::Option* option : one->get_options())
      for (const std::string& name : option->get_lnames())
        names.push_back("--" + name);
  for (int i = 1; i < count && std::string_view(words[i]) != "--"; ++i) {
    const std::string_view whole = words[i];
    const std::string_view word = whole.substr(0, whole.find('='));
    if (!word.starts_with("--") || std::find(names.begin(), names.end(), word) != names.end())
      continue;
    const std::string line = "unknown option '" + std::string(word) + "'";
    return with_guess(line, word, names) + " (" + verb + " --help lists them)";
  }
  return {};
}

}  // namespace

Verb Verb::add(const VerbHelp& about, base::Options options, Action run) {
  CLI::App& app = *app_->add_subcommand(about.name, about.help);
  app.footer(about.examples);
  if (!about.is_listed) app.group("");
  if (!run) app.require_subcommand(1);
  auto given = std::make_shared<std::vector<Given>>();
  for (base::Option& option : options)
    if (!option.help.empty()) given->push_back({std::move(option), {}});
  const bool has_places = std::any_of(given->begin(), given->end(),
                                      [](const Given& one) { return !has_dashes(one.option); });
  for (Given& one : *given)
    add_option(app, one, has_places);
  app.callback([&app, given, run = std::move(run), to = action_] {
    // A verb below has said already what to do.
    const Action next = app.get_subcommands().empty() ? run : *to;
    *to = [given, next] {
      const auto set = set_all(*given);
      return set ? next() : complain(set.error());
    };
  });
  return {app, *action_};
}

Program::Program(const char* name, const char* help, const std::string& version,
                 const char* examples)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(0, 1);
  app_->footer(examples);
}

Program::~Program() = default;

Verb Program::verbs() {
  return {*app_, action_};
}

int Program::run(int count, char** words, bool speaks) {
  if (const std::string line = unknown_verb(*app_, count, words); !line.empty())
    return complain({base::Code::bad_input, line, 0});
  try {
    app_->parse(count, words);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;  // of --help or --version
    app_->exit(asked, text);
    if (speaks) answer(text.str());
    return status_once_answered(kDone);
  } catch (const CLI::ParseError& wrong) {
    const auto verbs = named_verbs(*app_, count, words);
    std::string verb = "ebb";
    for (std::size_t i = 1; i < verbs.size(); ++i)
      verb += " " + verbs[i]->get_name();
    std::string line = unknown_option(verbs, verb, count, words);
    if (line.empty()) line = std::string(wrong.what()) + " (see " + verb + " --help)";
    return complain({base::Code::bad_input, line, 0});
  }
  if (action_) return status_once_answered(action_());
  if (speaks) answer(app_->help());
  return status_once_answered(kDone);
}

}  // namespace ebb::cli
