// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/order.h"

#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/run_store.h"
#include "cli/simulate/page.h"
#include "fl/select/selector.h"
#include "plan/network.h"
#include "sense/memory_info.h"

namespace ebb::cli {
namespace {

using base::Code;

/// The longest sweep: folders and tables are made for every seed.
constexpr std::uint64_t kMostRepeats = 1000;

base::Result<std::uint64_t> whole(const char* option, const std::string& text, std::uint64_t least,
                                  std::uint64_t most) {
  const auto number = base::parse_unsigned(text);
  if (number && *number >= least && *number <= most) return *number;
  return base::error(Code::bad_input, "%s '%s': expected a whole number from %llu to %llu", option,
                     text.c_str(), static_cast<unsigned long long>(least),
                     static_cast<unsigned long long>(most));
}

/// --config, or what the folder to be resumed was started with.
base::Result<fl::SweepFile> file_words(const SimulateWords& words) {
  namespace files = std::filesystem;
  if (words.resume.empty())
    return words.config.empty() ? base::Result<fl::SweepFile>(fl::SweepFile{})
                                : fl::read_sweep(words.config);
  std::error_code failure;
  if (!files::is_directory(words.resume, failure)) {
    return base::error(Code::not_found, "--resume '%s': expected the folder of a simulation",
                       words.resume.c_str());
  }
  for (const char* name : {fl::kComparisonFile, "config.json"}) {
    const std::string path = files::path(words.resume) / name;
    if (files::exists(path, failure)) return fl::read_sweep(path);
  }
  return base::error(Code::not_found,
                     "--resume '%s': expected %s or config.json in it, as a simulation leaves them",
                     words.resume.c_str(), fl::kComparisonFile);
}

void set_parameter(fl::ParameterValues& values, const std::string& name, double value) {
  const auto known = std::find_if(values.begin(), values.end(),
                                  [&](const auto& pair) { return pair.first == name; });
  if (known != values.end()) {
    known->second = value;
  } else {
    values.emplace_back(name, value);
  }
}

/// `name=value` for every method, `method:name=value` for one.
base::Status add_method_option(const std::string& text, SimulateOrder& order) {
  const auto wrong = [&](const char* expected) {
    return base::error(Code::bad_input, "--method-option '%s': expected %s", text.c_str(),
                       expected);
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return wrong("name=value or method:name=value");
  std::string name = text.substr(0, equals);
  const auto value = base::parse_double(text.substr(equals + 1));
  if (!value) return wrong("a number behind the =");
  std::string method;
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
    method = name.substr(0, colon);
    name = name.substr(colon + 1);
    if (std::find(order.methods.begin(), order.methods.end(), method) == order.methods.end())
      return wrong("a method that is simulated in front of the colon");
  }
  for (std::size_t i = 0; i < order.methods.size(); ++i)
    if (method.empty() || order.methods[i] == method)
      set_parameter(order.parameters[i], name, *value);
  return {};
}

base::Status set_methods(const SimulateWords& words, const fl::SweepFile& file,
                         SimulateOrder& order) {
  if (!words.compare) {
    order.methods = {order.config.method};
  } else if (!words.methods.empty()) {
    for (const std::string_view name : base::split(words.methods, ','))
      order.methods.emplace_back(base::trimmed(name));
  } else {
    order.methods = file.methods;
  }
  if (order.methods.empty())
    return base::error(Code::bad_input,
                       "--methods is missing: expected names with commas between them (ebb "
                       "simulate --list shows all)");
  for (std::size_t i = 0; i < order.methods.size(); ++i) {
    if (std::find(order.methods.begin(), order.methods.begin() + static_cast<std::ptrdiff_t>(i),
                  order.methods[i]) != order.methods.begin() + static_cast<std::ptrdiff_t>(i))
      return base::error(Code::bad_input, "--methods: '%s' stands there twice",
                         order.methods[i].c_str());
    const bool is_configured = order.methods[i] == order.config.method;
    order.parameters.push_back(is_configured ? order.config.method_parameters
                                             : fl::ParameterValues{});
  }
  std::vector<std::string> options = file.method_options;
  options.insert(options.end(), words.method_options.begin(), words.method_options.end());
  for (const std::string& option : options)
    if (const auto added = add_method_option(option, order); !added) return added;
  for (std::size_t i = 0; i < order.methods.size(); ++i)
    if (const auto made = fl::create_selector(order.methods[i], order.parameters[i]); !made)
      return made.error();
  return {};
}

base::Status set_seeds(const SimulateWords& words, const fl::SweepFile& file,
                       SimulateOrder& order) {
  if (!words.seeds.empty() && !words.repeats.empty())
    return base::error(Code::bad_input, "--seeds and --repeats: expected one of the two");
  if (!words.seeds.empty()) {
    for (const std::string_view text : base::split(words.seeds, ',')) {
      const auto seed = base::parse_unsigned(base::trimmed(text));
      if (!seed)
        return base::error(Code::bad_input,
                           "--seeds '%s': expected whole numbers with commas between them",
                           words.seeds.c_str());
      order.seeds.push_back(*seed);
    }
  } else if (!words.repeats.empty()) {
    const auto repeats = whole("--repeats", words.repeats, 1, kMostRepeats);
    if (!repeats) return repeats.error();
    for (std::uint64_t i = 0; i < *repeats; ++i)
      order.seeds.push_back(order.config.seed + i);
  } else {
    order.seeds = file.seeds;
  }
  if (order.seeds.empty()) order.seeds = {order.config.seed};
  if (order.seeds.size() > kMostRepeats)
    return base::error(Code::bad_input, "--seeds: expected at most %llu",
                       static_cast<unsigned long long>(kMostRepeats));
  std::vector<std::uint64_t> sorted = order.seeds;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return base::error(Code::bad_input, "--seeds: %llu stands there twice",
                       static_cast<unsigned long long>(*twice));
  return {};
}

base::Status check_model(const std::string& model) {
  if (plan::network_named(model, plan::Picture{}, 10)) return {};
  const std::vector<std::string> names = fl::model_names();
  std::string line = "unknown model '" + model + "'";
  if (const auto guess = base::nearest(model, {names.begin(), names.end()}))
    line += ": did you mean " + std::string(*guess) + "?";
  return base::Error{Code::bad_input, line + " (ebb simulate --list shows all)", 0};
}

base::Status set_execution(const SimulateWords& words, fl::Execution& execution) {
  execution.data_folder = words.data;
  if (words.parallel_clients != "auto") {
    const auto clients = whole("--parallel-clients", words.parallel_clients, 1, 4096);
    if (!clients) return clients.error();
    execution.parallel_clients = static_cast<std::uint32_t>(*clients);
  }
  if (!words.memory.empty()) {
    const auto bytes = base::parse_bytes(words.memory);
    if (!bytes) return base::error(Code::bad_input, "--memory: %s", bytes.error().message.c_str());
    execution.memory = *bytes;
  }
  const auto checkpoint = whole("--checkpoint-every", words.checkpoint_every, 1, 1'000'000);
  if (!checkpoint) return checkpoint.error();
  execution.checkpoint_every = static_cast<std::uint32_t>(*checkpoint);
  const auto light = whole("--gc-rounds", words.gc_rounds, 0, 1'000'000);
  if (!light) return light.error();
  execution.gc_rounds = static_cast<int>(*light);
  const auto heavy = whole("--heavy-gc-rounds", words.heavy_gc_rounds, 0, 1'000'000);
  if (!heavy) return heavy.error();
  execution.heavy_gc_rounds = static_cast<int>(*heavy);
  execution.warn_percent = words.warn;
  execution.critical_percent = words.critical;
  if (const auto valid = sense::check({words.warn, words.critical}); !valid) return valid.error();
  execution.resume = !words.resume.empty();
  return {};
}

base::Status set_folder(const SimulateWords& words, SimulateOrder& order) {
  namespace files = std::filesystem;
  const int given = int{words.no_folder} + int{!words.folder.empty()} + int{!words.resume.empty()};
  if (given > 1)
    return base::error(Code::bad_input,
                       "--folder, --resume and --no-folder: expected one of the three");
  order.writes_folder = !words.no_folder;
  order.folder = words.resume.empty() ? words.folder : words.resume;
  if (words.folder.empty()) return {};
  std::error_code failure;
  for (const char* name : {fl::kComparisonFile, "config.json"}) {
    if (files::exists(files::path(words.folder) / name, failure))
      return base::error(Code::bad_input,
                         "--folder '%s': it holds a simulation already (--resume goes on with it)",
                         words.folder.c_str());
  }
  return {};
}

base::Status set_record(const SimulateWords& words, SimulateOrder& order) {
  if (words.no_record) return {};
  const auto path = record_path(words.db);
  if (!path) return path.error();
  order.record_path = *path;
  return {};
}

}  // namespace

base::Result<SimulateOrder> order_from(const SimulateWords& words) {
  const auto file = file_words(words);
  if (!file) return file.error();
  const auto given = settings_json(words);
  if (!given) return given.error();
  auto config = fl::config_from(*given, file->config);
  if (!config) return config.error();
  SimulateOrder order;
  order.compare = words.compare;
  order.config = *std::move(config);
  order.html = words.html;
  if (!order.html.empty()) {
    if (const auto can = can_write_pages(); !can) return can.error();
  }
  order.json = words.json;
  order.dry_run = words.dry_run;
  order.quiet = words.quiet;
  if (const auto set = set_methods(words, *file, order); !set) return set.error();
  if (const auto set = set_seeds(words, *file, order); !set) return set.error();
  order.config = order.config_of(0, 0);
  if (const auto sound = fl::check(order.config); !sound) return sound.error();
  if (const auto known = check_model(order.config.model); !known) return known.error();
  if (const auto set = set_execution(words, order.execution); !set) return set.error();
  if (const auto set = set_folder(words, order); !set) return set.error();
  if (const auto set = set_record(words, order); !set) return set.error();
  return order;
}

}  // namespace ebb::cli
