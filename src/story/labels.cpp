// SPDX-License-Identifier: Apache-2.0
#include "story/labels.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"

namespace ebb::story {
namespace {

constexpr std::size_t kMostWords = 3;     // that differ and read like names
constexpr std::size_t kLongestName = 32;  // of a word that reads like one
constexpr std::size_t kMostArguments = 64;

/// One argument with the option before it; "#2" for the second of those without one.
struct Argument {
  std::string key;
  std::string value;
};

struct Command {
  std::string program;
  std::string arguments;  ///< as they stand
  std::vector<Argument> parts;
};

std::string base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return std::string(name.empty() ? path : name);
}

bool is_interpreter(const std::string& program) {
  constexpr std::array kOthers{"sh", "bash", "dash", "zsh", "perl", "node", "ruby"};
  if (std::find(kOthers.begin(), kOthers.end(), program) != kOthers.end()) return true;
  std::string_view rest = program;
  for (const std::string_view python : {"python", "pypy"})
    if (rest.starts_with(python)) rest.remove_prefix(python.size());
  return rest.size() < program.size() && rest.find_first_not_of("0123456789.") == rest.npos;
}

/// What python -c is given by multiprocessing.
std::optional<std::string> helper_of(std::string_view code) {
  for (const char* name : {"resource_tracker", "forkserver", "spawn_main"})
    if (code.find(name) != std::string_view::npos) return name;
  return std::nullopt;
}

std::vector<Argument> parts_of(const std::vector<std::string_view>& words) {
  std::vector<Argument> parts;
  std::size_t places = 0;
  for (std::size_t i = 0; i < words.size() && parts.size() < kMostArguments; ++i) {
    const std::string_view word = words[i];
    const bool is_option = word.size() > 1 && word[0] == '-' && !std::isdigit(word[1]);
    const std::size_t equals = word.find('=');
    if (!is_option) {
      parts.push_back({"#" + std::to_string(++places), std::string(word)});
    } else if (equals != std::string_view::npos) {
      parts.push_back({std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("-")) {
      parts.push_back({std::string(word), std::string(words[i + 1])});
      ++i;
    } else {
      parts.push_back({std::string(word), ""});
    }
  }
  return parts;
}

Command command_of(const std::string& line) {
  const std::vector<std::string_view> words = base::words(line);
  Command command;
  if (words.empty()) return command;
  command.program = base_name(words[0]);
  std::size_t next = 1;
  if (is_interpreter(command.program)) {
    for (; next < words.size() && words[next].starts_with("-"); ++next) {
      const std::string_view option = words[next];
      if ((option == "-X" || option == "-W") && next + 1 < words.size()) ++next;
      if (option == "-m" || option == "-c") break;
    }
    const bool has_more = next + 1 < words.size();
    if (next < words.size() && words[next] == "-m" && has_more) {
      const std::string_view module = words[next + 1];
      const std::size_t dot = module.find_last_of('.');
      command.program = module.substr(dot == std::string_view::npos ? 0 : dot + 1);
      next += 2;
    } else if (next < words.size() && words[next] == "-c") {
      // The code tells only numbers of descriptors apart.
      if (const auto helper = helper_of(line)) return {*helper, "", {}};
    } else if (next < words.size()) {
      command.program = base_name(words[next++]);
    } else {
      next = 1;
    }
  }
  const std::vector<std::string_view> rest(words.begin() + static_cast<std::ptrdiff_t>(next),
                                           words.end());
  for (const std::string_view word : rest)
    command.arguments += " " + std::string(word);
  command.parts = parts_of(rest);
  return command;
}

/// 0 reads like a name, 1 is a number, 2 is a path, a key or a sentence.
int noise_of(const std::string& value) {
  if (value.empty()) return 0;
  if (value.find_first_not_of("0123456789.") == std::string::npos) return 1;
  const bool is_hex =
      value.size() >= 16 && value.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
  if (is_hex || value.size() > kLongestName || value.find_first_of("/:=(") != std::string::npos)
    return 2;
  return 0;
}

std::string text_of(const Argument& argument) {
  if (argument.value.empty()) return argument.key;
  if (argument.key[0] == '#' || noise_of(argument.value) == 0) return argument.value;
  return argument.key + " " + argument.value;
}

/// The different commands of one program.
class Namesakes {
 public:
  void add(const Command& command) { commands_.push_back(&command); }

  /// In the order in which they were added.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (commands_.size() == 1) return {commands_[0]->program + commands_[0]->arguments};
    std::vector<std::string> shown;
    std::size_t words = 0;
    for (const std::string& key : differing_keys()) {
      const bool reads_well = noise_of_key(key) == 0 && words < kMostWords;
      if (!reads_well && are_distinct(shown)) continue;
      words += reads_well ? 1 : 0;
      shown.push_back(key);
    }
    names.reserve(commands_.size());
    for (const Command* command : commands_)
      names.push_back(name_of(*command, shown));
    return names;
  }

 private:
  static const Argument* find(const Command& command, const std::string& key) {
    for (const Argument& part : command.parts)
      if (part.key == key) return &part;
    return nullptr;
  }

  int noise_of_key(const std::string& key) const {
    int noise = 0;
    for (const Command* command : commands_)
      if (const Argument* part = find(*command, key))
        noise = std::max(noise, noise_of(part->value));
    return noise;
  }

  /// Those that read well first, else as they stand.
  std::vector<std::string> differing_keys() const {
    std::vector<std::string> keys;
    std::set<std::string> seen;
    for (const Command* command : commands_) {
      for (const Argument& part : command->parts) {
        if (!seen.insert(part.key).second) continue;
        const bool same = std::all_of(commands_.begin(), commands_.end(), [&](const Command* one) {
          const Argument* other = find(*one, part.key);
          return other != nullptr && other->value == part.value;
        });
        if (!same) keys.push_back(part.key);
      }
    }
    std::stable_sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
      return noise_of_key(a) < noise_of_key(b);
    });
    return keys;
  }

  static std::string name_of(const Command& command, const std::vector<std::string>& keys) {
    std::string name = command.program;
    for (const std::string& key : keys)
      if (const Argument* part = find(command, key)) name += " " + text_of(*part);
    return name;
  }

  bool are_distinct(const std::vector<std::string>& keys) const {
    std::set<std::string> names;
    for (const Command* command : commands_)
      names.insert(name_of(*command, keys));
    return names.size() == commands_.size();
  }

  std::vector<const Command*> commands_;
};

/// What each command line of the run is called.
std::map<std::string, std::string> names_of(const std::vector<record::ProcessHistory>& processes) {
  std::map<std::string, Command> commands;
  for (const record::ProcessHistory& history : processes) {
    const std::string& line = history.process.command;
    if (commands.find(line) == commands.end()) commands.emplace(line, command_of(line));
  }
  std::map<std::string, std::vector<std::string>> lines;
  for (const auto& [line, command] : commands)
    lines[command.program].push_back(line);
  std::map<std::string, std::string> names;
  for (const auto& [program, all] : lines) {
    Namesakes namesakes;
    for (const std::string& line : all)
      namesakes.add(commands[line]);
    const std::vector<std::string> found = namesakes.names();
    for (std::size_t i = 0; i < all.size(); ++i)
      names[all[i]] = found[i];
  }
  return names;
}

std::string worker_text(const Label& label) {
  return label.own_name.empty() ? "worker " + std::to_string(label.worker) : label.own_name;
}

/// Where nothing tells them apart, their order does.
void number_namesakes(std::vector<Label>& labels) {
  std::map<std::string, std::size_t> total, so_far;
  for (const Label& label : labels)
    ++total[label.name];
  for (Label& label : labels)
    if (total[label.name] > 1) label.name += " #" + std::to_string(++so_far[label.name]);
}

}  // namespace

std::vector<Label> labels_of(const std::vector<record::ProcessHistory>& processes,
                             const std::vector<record::Event>& events) {
  const std::map<std::string, std::string> names = names_of(processes);
  std::vector<Label> labels(processes.size());
  std::map<record::ProcessKey, std::string> own_names;
  for (const record::Event& event : events)
    if (event.is(record::EventKind::named) && event.process) own_names[*event.process] = event.text;
  std::map<std::int32_t, std::size_t> by_pid;
  std::map<std::size_t, std::size_t> workers;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const record::Process& process = processes[i].process;
    Label& label = labels[i];
    const auto parent = by_pid.find(process.parent);
    // In the order of their first sight a parent stands before its children.
    if (parent != by_pid.end() && !process.command.empty() &&
        processes[parent->second].process.command == process.command) {
      label.parent = parent->second;
      label.worker = ++workers[label.parent];
      if (const auto own = own_names.find(process.key()); own != own_names.end())
        label.own_name = own->second;
      label.name = labels[label.parent].name + ", " + worker_text(label);
    } else {
      label.name = names.at(process.command);
    }
    by_pid[process.pid] = i;
  }
  number_namesakes(labels);
  return labels;
}

std::vector<LabelRow> rows_of(const std::vector<std::size_t>& order,
                              const std::vector<Label>& labels) {
  struct Waiting {
    std::size_t index, depth;
  };
  const std::set<std::size_t> listed(order.begin(), order.end());
  std::map<std::size_t, std::vector<std::size_t>> below;
  std::vector<Waiting> waiting;
  for (const std::size_t index : order) {
    const Label& label = labels[index];
    if (label.worker > 0 && listed.count(label.parent) > 0) {
      below[label.parent].push_back(index);
    } else {
      waiting.push_back({index, 0});
    }
  }
  std::reverse(waiting.begin(), waiting.end());
  std::vector<LabelRow> rows;
  while (!waiting.empty()) {
    const Waiting next = waiting.back();
    waiting.pop_back();
    const Label& label = labels[next.index];
    rows.push_back({next.index, next.depth == 0
                                    ? label.name
                                    : std::string(2 * next.depth, ' ') + worker_text(label)});
    std::vector<std::size_t>& own = below[next.index];
    std::sort(own.begin(), own.end(),
              [&](std::size_t a, std::size_t b) { return labels[a].worker > labels[b].worker; });
    for (const std::size_t worker : own)
      waiting.push_back({worker, next.depth + 1});
  }
  return rows;
}

}  // namespace ebb::story
