// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep_words.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "fl/run_folder.h"
#include "plan/network.h"
#include "plan/network_file.h"

namespace ebb::fl {
namespace {

using base::Code;

/// The longest sweep: folders and tables are made for every seed.
constexpr std::uint64_t kMostRepeats = 1000;

/// What follows from the rounds now shall not change when a run is made longer.
void settle_schedule(Config& config) {
  RateSchedule& schedule = config.schedule;
  if (schedule.kind == ScheduleKind::cosine && !schedule.t_max)
    schedule.t_max = config.rounds > schedule.warmup ? config.rounds - schedule.warmup : 1;
}

/// --config, or what the folder to be resumed was started with.
base::Result<SweepFile> file_words(const SweepWords& words) {
  namespace files = std::filesystem;
  if (words.resume.empty())
    return words.config.empty() ? base::Result<SweepFile>(SweepFile{}) : read_sweep(words.config);
  std::error_code failure;
  if (!files::is_directory(words.resume, failure)) {
    return base::error(Code::not_found, "--resume '%s': expected the folder of a simulation",
                       words.resume.c_str());
  }
  for (const char* name : {kComparisonFile, "config.json"}) {
    const std::string path = files::path(words.resume) / name;
    if (!files::exists(path, failure)) continue;
    if (const auto found = expect_file(path); !found) return found.error();
    return read_sweep(path);
  }
  return base::error(Code::not_found,
                     "--resume '%s': expected %s or config.json in it, as a simulation leaves them",
                     words.resume.c_str(), kComparisonFile);
}

base::Status set_seeds(const SweepWords& words, const SweepFile& file, Sweep& sweep) {
  if (!words.seeds.empty() && !words.repeats.empty())
    return base::error(Code::bad_input, "--seeds and --repeats: expected one of the two");
  if (!words.seeds.empty()) {
    for (const std::string_view text : base::split(words.seeds, ',')) {
      const auto seed = base::parse_unsigned(base::trimmed(text));
      if (!seed)
        return base::error(Code::bad_input,
                           "--seeds '%s': expected whole numbers with commas between them",
                           words.seeds.c_str());
      sweep.seeds.push_back(*seed);
    }
  } else if (!words.repeats.empty()) {
    const auto repeats = base::parse_unsigned(words.repeats);
    if (!repeats || *repeats < 1 || *repeats > kMostRepeats)
      return base::error(Code::bad_input, "--repeats '%s': expected a whole number from 1 to %llu",
                         words.repeats.c_str(), static_cast<unsigned long long>(kMostRepeats));
    for (std::uint64_t i = 0; i < *repeats; ++i)
      sweep.seeds.push_back(sweep.config.seed + i);
  } else {
    sweep.seeds = file.seeds;
  }
  if (sweep.seeds.empty()) sweep.seeds = {sweep.config.seed};
  if (sweep.seeds.size() > kMostRepeats)
    return base::error(Code::bad_input, "--seeds: expected at most %llu",
                       static_cast<unsigned long long>(kMostRepeats));
  std::vector<std::uint64_t> sorted = sweep.seeds;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return base::error(Code::bad_input, "--seeds: %llu stands there twice",
                       static_cast<unsigned long long>(*twice));
  return {};
}

/// The text of a model's file becomes a part of the configuration. Where that has it already, of a
/// simulation that was begun, the file may be gone, but not say something else.
base::Status settle_model_file(Config& config) {
  std::error_code failure;
  if (!config.network || std::filesystem::exists(config.model, failure)) {
    const auto text = plan::read_network_file(config.model);
    if (!text) return text.error();
    const auto network = plan::network_from(*text, config.model, {}, 10);
    if (!network) return network.error();
    const std::string written = base::parse_json(*text)->text();
    if (config.network && written != *config.network)
      return base::error(Code::bad_input,
                         "%s: has changed since the simulation was begun, expected \"network\" of "
                         "its config.json",
                         config.model.c_str());
    config.network = written;
    return {};
  }
  const auto network = plan::network_from(*config.network, config.model, {}, 10);
  return network ? base::Status() : network.error();
}

base::Status check_model(const std::string& model) {
  if (plan::network_named(model, plan::Picture{}, 10)) return {};
  const std::vector<std::string> names = model_names();
  std::string line = "unknown model '" + model + "'";
  if (const auto guess = base::nearest(model, {names.begin(), names.end()}))
    line += ": did you mean " + std::string(*guess) + "?";
  return base::Error{Code::bad_input, line + " (ebb simulate --list shows all)", 0};
}

base::Status settle_model(const SweepWords& words, Config& config) {
  const base::Options settings = options_of(config);
  for (std::size_t i = 0; i < words.settings.size(); ++i) {
    // Who names a model for a simulation that is begun means the file as it is now.
    if (settings[i].key == "model" && words.settings[i] && words.resume.empty())
      config.network.reset();
  }
  if (plan::is_network_file(config.model)) return settle_model_file(config);
  config.network.reset();
  return check_model(config.model);
}

}  // namespace

base::Options options_of(SweepWords& words) {
  Config defaults;
  const base::Options settings = options_of(defaults);
  words.settings.resize(settings.size());
  base::Options options;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (words.compare && settings[i].key == "method") {
      options.push_back({"methods", &words.methods, "Methods to compare, separated by commas"});
    } else {
      options.push_back(base::written_down(settings[i], words.settings[i]));
    }
  }
  options.push_back({"method_option", &words.method_options,
                     "name=value of the method, or method:name=value; --list shows them"});
  options.push_back({"seeds", &words.seeds, "Simulate once with each seed, e.g. 1,2,3"});
  options.push_back({"repeats", &words.repeats, "Number of seeds, from --seed on"});
  options.push_back({"config", &words.config, "JSON with options as keys; the command line wins"});
  options.push_back({"resume", &words.resume, "Continue the simulation in this folder"});
  return options;
}

base::Result<Sweep> sweep_from(const SweepWords& words) {
  const auto file = file_words(words);
  if (!file) return file.error();
  Sweep sweep;
  sweep.config = file->config;
  sweep.nvflare = file->nvflare;
  const base::Options settings = options_of(sweep.config);
  for (std::size_t i = 0; i < words.settings.size(); ++i) {
    if (!words.settings[i]) continue;
    if (const auto set = base::set_text(settings[i], *words.settings[i]); !set) return set.error();
  }
  if (const auto set = set_methods(words, *file, sweep); !set) return set.error();
  if (const auto set = set_seeds(words, *file, sweep); !set) return set.error();
  settle_schedule(sweep.config);
  sweep.config = sweep.config_of(0, 0);
  if (const auto sound = check(sweep.config); !sound) return sound.error();
  if (const auto known = settle_model(words, sweep.config); !known) return known.error();
  return sweep;
}

}  // namespace ebb::fl
