// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_options.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/run_store.h"
#include "fl/select/selector.h"
#include "plan/network.h"
#include "sense/memory_info.h"

namespace ebb::cli {
namespace {

using base::Code;
using base::Json;

enum class Kind : std::uint8_t { text, whole, number };

/// An option that is a key of fl::config_from.
struct Setting {
  const char* option;
  const char* key;
  Kind kind;
  const char* help;
};

constexpr Setting kSettings[] = {
    {"--dataset", "dataset", Kind::text, "fashion-mnist unless told; --list shows all"},
    {"--model", "model", Kind::text, "cnn-mnist unless told; --list shows all"},
    {"--clients", "clients", Kind::whole, "Clients that there are (100)"},
    {"--per-round", "per_round", Kind::whole, "Clients chosen in a round (10)"},
    {"--rounds", "rounds", Kind::whole, "Rounds (10)"},
    {"--epochs", "epochs", Kind::whole, "Passes over a client's samples in a round (1)"},
    {"--batch", "batch", Kind::whole, "Samples of one step (32)"},
    {"--lr", "lr", Kind::number, "Learning rate of the clients (0.01)"},
    {"--seed", "seed", Kind::whole, "Of everything random (42)"},
    {"--eval-every", "eval_every", Kind::whole, "Evaluate after every so many rounds (1)"},
    {"--partition", "partition", Kind::text, "iid, dirichlet or shards"},
    {"--alpha", "alpha", Kind::number, "Of dirichlet: the smaller, the fewer labels (0.5)"},
    {"--shards-per-client", "shards_per_client", Kind::whole, "Of shards (2)"},
    {"--sizes", "sizes", Kind::text, "none, lognormal or power-law"},
    {"--size-sigma", "size_sigma", Kind::number, "Of lognormal sizes (0.5)"},
    {"--size-alpha", "size_alpha", Kind::number, "Of power-law sizes (1.5)"},
    {"--workflow", "workflow", Kind::text, "server, cyclic or swarm"},
    {"--aggregation,--rule", "aggregation", Kind::text,
     "fedavg, fedprox, fedavgm, fedadam, fedyogi, median or trimmed-mean"},
    {"--proximal", "proximal", Kind::number, "mu of fedprox (0.01)"},
    {"--server-lr", "server_lr", Kind::number, "Step of the aggregator (1)"},
    {"--momentum", "momentum", Kind::number, "Of fedavgm; beta1 of fedadam, fedyogi (0.9)"},
    {"--beta2", "beta2", Kind::number, "Of fedadam and fedyogi (0.99)"},
    {"--tau", "tau", Kind::number, "Of fedadam and fedyogi (0.001)"},
    {"--trim", "trim", Kind::number, "Share that trimmed-mean drops at either end (0.1)"},
    {"--dropout", "dropout", Kind::number, "Chance that a chosen client never answers (0)"},
    {"--deadline", "deadline", Kind::number, "Simulated seconds after which a round is closed"},
    {"--staleness", "staleness", Kind::whole, "Rounds that a late update may be late (0)"},
    {"--dp-clip", "dp_clip", Kind::number, "Differential privacy: norm of an update (off)"},
    {"--dp-noise", "dp_noise", Kind::number, "Noise on their sum, in that norm (0)"},
    {"--dp-delta", "dp_delta", Kind::number, "Delta of the privacy spent (0.00001)"},
    {"--backend", "backend", Kind::text, "native, onednn, cuda or auto: the fastest here"},
    {"--synthetic-train", "synthetic_train", Kind::whole, "Training samples of synthetic (60000)"},
    {"--synthetic-test", "synthetic_test", Kind::whole, "Test samples of synthetic (10000)"},
    {"--synthetic-channels", "synthetic_channels", Kind::whole, "Of its pictures (1)"},
    {"--synthetic-height", "synthetic_height", Kind::whole, "Likewise (28)"},
    {"--synthetic-width", "synthetic_width", Kind::whole, "Likewise (28)"},
    {"--synthetic-classes", "synthetic_classes", Kind::whole, "Classes of synthetic (10)"},
};
constexpr std::size_t kSettingCount = std::size(kSettings);
/// Only simulate has it: compare has --methods.
constexpr Setting kMethod = {"--method", "method", Kind::text,
                             "How clients are chosen (heuristic.random); --list shows all"};

/// The longest sweep: folders and tables are made for every seed.
constexpr std::uint64_t kMostRepeats = 1000;

std::string first_name(const Setting& setting) {
  return std::string(base::split(setting.option, ',').front());
}

base::Result<Json> value_of(const Setting& setting, const std::string& text) {
  if (setting.kind == Kind::text) return Json(text);
  if (setting.kind == Kind::whole) {
    if (const auto number = base::parse_unsigned(text)) return Json(*number);
    return base::error(Code::bad_input, "%s '%s': expected a whole number",
                       first_name(setting).c_str(), text.c_str());
  }
  if (const auto number = base::parse_double(text)) return Json(*number);
  return base::error(Code::bad_input, "%s '%s': expected a number", first_name(setting).c_str(),
                     text.c_str());
}

base::Result<std::uint64_t> whole(const char* option, const std::string& text, std::uint64_t least,
                                  std::uint64_t most) {
  const auto number = base::parse_unsigned(text);
  if (number && *number >= least && *number <= most) return *number;
  return base::error(Code::bad_input, "%s '%s': expected a whole number from %llu to %llu", option,
                     text.c_str(), static_cast<unsigned long long>(least),
                     static_cast<unsigned long long>(most));
}

/// A configuration out of a file, and what a sweep adds to it.
struct FileWords {
  fl::Config config;
  std::vector<std::string> methods;
  std::vector<std::string> method_options;
  std::vector<std::uint64_t> seeds;
};

/// A list under one of the keys that a sweep has beside those of a configuration.
base::Status read_sweep(const std::string& key, const Json& list, FileWords& words) {
  const auto wrong = [&](const char* what) {
    return base::error(Code::bad_input, "%s: expected %s", key.c_str(), what);
  };
  if (list.as_array() == nullptr) return wrong("a list");
  for (const Json& item : *list.as_array()) {
    if (key == "seeds") {
      if (!item.as_unsigned()) return wrong("whole numbers");
      words.seeds.push_back(*item.as_unsigned());
    } else {
      if (item.as_string() == nullptr) return wrong("texts");
      (key == "methods" ? words.methods : words.method_options).push_back(*item.as_string());
    }
  }
  return {};
}

base::Result<FileWords> read_config(const std::string& path) {
  const auto text = base::read_file(path);
  if (!text) return text.error();
  const auto wrong = [&](const base::Error& error) {
    return base::error(Code::bad_input, "%s: %s", path.c_str(), error.message.c_str());
  };
  const auto json = base::parse_json(*text);
  if (!json) return wrong(json.error());
  if (json->as_object() == nullptr)
    return base::error(Code::bad_input, "%s: expected a JSON object with options as keys",
                       path.c_str());
  FileWords words;
  Json rest = Json::object();
  for (const auto& [key, value] : *json->as_object()) {
    if (key != "methods" && key != "method_options" && key != "seeds") {
      rest.set(key, value);
    } else if (const auto read = read_sweep(key, value, words); !read) {
      return wrong(read.error());
    }
  }
  auto config = fl::config_from(rest);
  if (!config) return wrong(config.error());
  words.config = *std::move(config);
  return words;
}

/// --config, or what the folder to be resumed was started with.
base::Result<FileWords> file_words(const SimulateWords& words) {
  namespace files = std::filesystem;
  if (words.resume.empty())
    return words.config.empty() ? base::Result<FileWords>(FileWords{}) : read_config(words.config);
  std::error_code failure;
  if (!files::is_directory(words.resume, failure)) {
    return base::error(Code::not_found, "--resume '%s': expected the folder of a simulation",
                       words.resume.c_str());
  }
  for (const char* name : {kComparisonFile, "config.json"}) {
    const std::string path = files::path(words.resume) / name;
    if (files::exists(path, failure)) return read_config(path);
  }
  return base::error(Code::not_found,
                     "--resume '%s': expected %s or config.json in it, as a simulation leaves them",
                     words.resume.c_str(), kComparisonFile);
}

base::Result<fl::Config> with_settings(const SimulateWords& words, fl::Config config) {
  Json given = Json::object();
  for (std::size_t i = 0; i < words.settings.size(); ++i) {
    if (!words.settings[i]) continue;
    const Setting& setting = i < kSettingCount ? kSettings[i] : kMethod;
    auto value = value_of(setting, *words.settings[i]);
    if (!value) return value.error();
    given.set(setting.key, *std::move(value));
  }
  return fl::config_from(given, std::move(config));
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

base::Status set_methods(const SimulateWords& words, const FileWords& file, SimulateOrder& order) {
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

base::Status set_seeds(const SimulateWords& words, const FileWords& file, SimulateOrder& order) {
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
  const std::vector<std::string> names = model_names();
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
  if (const auto ordered = sense::level_of({}, {words.warn, words.critical}); !ordered)
    return ordered.error();
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
  for (const char* name : {kComparisonFile, "config.json"}) {
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

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const std::string_view network : plan::network_names()) {
    std::string name;
    for (const char c : network) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!name.empty() && name.back() != '-') {
        name += '-';
      }
    }
    if (name.ends_with('-')) name.pop_back();
    names.push_back(name);
  }
  return names;
}

fl::Config SimulateOrder::config_of(std::size_t method, std::size_t seed) const {
  fl::Config one = config;
  one.method = methods[method];
  one.method_parameters = parameters[method];
  one.seed = seeds[seed];
  one.synthetic.seed = one.seed;
  return one;
}

void add_simulate_options(CLI::App& verb, SimulateWords& words) {
  words.settings.resize(kSettingCount + (words.compare ? 0 : 1));
  if (words.compare) {
    verb.add_option("--methods", words.methods, "Names with commas between them");
  } else {
    verb.add_option(kMethod.option, words.settings.back(), kMethod.help)->take_last();
  }
  verb.add_option("--method-option", words.method_options,
                  "name=value of the method, or method:name=value; --list shows them")
      ->take_all();
  for (std::size_t i = 0; i < kSettingCount; ++i)
    verb.add_option(kSettings[i].option, words.settings[i], kSettings[i].help)->take_last();
  verb.add_option("--data", words.data, "Folder of the data set's files");
  verb.add_option("--seeds", words.seeds, "Once with each of these, e.g. 1,2,3");
  verb.add_option("--repeats", words.repeats, "So many seeds from --seed on");
  verb.add_option("--config", words.config, "JSON with options as keys; the command line wins");
  verb.add_option("--parallel-clients,--threads", words.parallel_clients,
                  "Clients trained at a time, or auto: what memory and cores allow")
      ->capture_default_str();
  verb.add_option("--memory", words.memory, "What the process may use, e.g. 2GiB");
  verb.add_option("--folder", words.folder, "Of the run's files; a new one below ebb-runs without");
  verb.add_option("--resume", words.resume, "Go on with what stands in this folder");
  verb.add_flag("--no-folder", words.no_folder, "Write no files: nothing can be resumed");
  verb.add_option("--checkpoint-every", words.checkpoint_every, "Rounds")->capture_default_str();
  verb.add_option("--gc-rounds", words.gc_rounds, "Light cleanup after so many rounds; 0 never")
      ->capture_default_str();
  verb.add_option("--heavy-gc-rounds", words.heavy_gc_rounds, "Deep cleanup likewise")
      ->capture_default_str();
  verb.add_option("--warn", words.warn, "One line at this percentage of the limit")
      ->capture_default_str();
  verb.add_option("--critical", words.critical, "Clean up, then train fewer clients at a time")
      ->capture_default_str();
  verb.add_option("--html", words.html, "Also writes one self-contained page");
  verb.add_option("--db", words.db, "File of the record (docs/record.md)");
  verb.add_flag("--no-record", words.no_record, "Record nothing");
  verb.add_flag("--json", words.json, "One JSON object (docs/simulate.md)");
  verb.add_flag("--list", words.list, "Methods, models and data sets");
  verb.add_flag("--dry-run", words.dry_run, "The memory plan and the configuration, no round");
  verb.add_flag("--quiet", words.quiet, "Say nothing on stderr but errors");
}

base::Result<SimulateOrder> order_from(const SimulateWords& words) {
  const auto file = file_words(words);
  if (!file) return file.error();
  auto config = with_settings(words, file->config);
  if (!config) return config.error();
  SimulateOrder order;
  order.compare = words.compare;
  order.config = *std::move(config);
  order.html = words.html;
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

Json comparison_json(const SimulateOrder& order) {
  Json json = fl::to_json(order.config);
  Json methods = Json::array();
  Json options = Json::array();
  for (std::size_t i = 0; i < order.methods.size(); ++i) {
    methods.push(order.methods[i]);
    for (const auto& [name, value] : order.parameters[i])
      options.push(order.methods[i] + ":" + name + "=" + Json(value).text());
  }
  Json seeds = Json::array();
  for (const std::uint64_t seed : order.seeds)
    seeds.push(seed);
  return json.set("methods", std::move(methods))
      .set("method_options", std::move(options))
      .set("seeds", std::move(seeds));
}

}  // namespace ebb::cli
