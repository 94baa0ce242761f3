// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/options.h"

#include <CLI/CLI.hpp>
#include "base/text.h"

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
    {"--dataset", "dataset", Kind::text, "Data set (fashion-mnist); --list shows all"},
    {"--model", "model", Kind::text, "Network (cnn-mnist); --list shows all"},
    {"--clients", "clients", Kind::whole, "Clients in all (100)"},
    {"--per-round", "per_round", Kind::whole, "Clients chosen in a round (10)"},
    {"--rounds", "rounds", Kind::whole, "Rounds (10)"},
    {"--epochs", "epochs", Kind::whole, "Passes over a client's samples in a round (1)"},
    {"--batch", "batch", Kind::whole, "Samples per step (32)"},
    {"--lr", "lr", Kind::number, "Learning rate of the clients (0.01)"},
    {"--seed", "seed", Kind::whole, "Seed of all random numbers (42)"},
    {"--eval-every", "eval_every", Kind::whole, "Rounds between evaluations (1)"},
    {"--partition", "partition", Kind::text, "iid, dirichlet or shards"},
    {"--alpha", "alpha", Kind::number, "For dirichlet: smaller means fewer labels (0.5)"},
    {"--shards-per-client", "shards_per_client", Kind::whole,
     "For shards: how many each client gets (2)"},
    {"--sizes", "sizes", Kind::text, "none, lognormal or power-law"},
    {"--size-sigma", "size_sigma", Kind::number, "For lognormal sizes (0.5)"},
    {"--size-alpha", "size_alpha", Kind::number, "For power-law sizes (1.5)"},
    {"--workflow", "workflow", Kind::text, "server, cyclic or swarm"},
    {"--aggregation,--rule", "aggregation", Kind::text,
     "fedavg, fedprox, fedavgm, fedadam, fedyogi, median or trimmed-mean"},
    {"--proximal", "proximal", Kind::number, "mu of fedprox (0.01)"},
    {"--server-lr", "server_lr", Kind::number, "Step of the aggregator (1)"},
    {"--momentum", "momentum", Kind::number, "For fedavgm; beta1 of fedadam, fedyogi (0.9)"},
    {"--beta2", "beta2", Kind::number, "For fedadam and fedyogi (0.99)"},
    {"--tau", "tau", Kind::number, "For fedadam and fedyogi (0.001)"},
    {"--trim", "trim", Kind::number, "Share that trimmed-mean drops at either end (0.1)"},
    {"--dropout", "dropout", Kind::number, "Chance that a chosen client never answers (0)"},
    {"--deadline", "deadline", Kind::number, "Simulated seconds after which a round is closed"},
    {"--staleness", "staleness", Kind::whole, "Rounds by which an update may be late (0)"},
    {"--dp-clip", "dp_clip", Kind::number, "Differential privacy: norm to clip updates to (off)"},
    {"--dp-noise", "dp_noise", Kind::number, "Noise added to their sum, in units of that norm (0)"},
    {"--dp-delta", "dp_delta", Kind::number, "Delta of the privacy spent (0.00001)"},
    {"--backend", "backend", Kind::text, "native, onednn, cuda or auto: the fastest here"},
    {"--synthetic-train", "synthetic_train", Kind::whole, "Training samples of synthetic (60000)"},
    {"--synthetic-test", "synthetic_test", Kind::whole, "Test samples of synthetic (10000)"},
    {"--synthetic-channels", "synthetic_channels", Kind::whole, "Channels of its pictures (1)"},
    {"--synthetic-height", "synthetic_height", Kind::whole, "Height of its pictures (28)"},
    {"--synthetic-width", "synthetic_width", Kind::whole, "Width of its pictures (28)"},
    {"--synthetic-classes", "synthetic_classes", Kind::whole, "Classes of synthetic (10)"},
};
constexpr std::size_t kSettingCount = std::size(kSettings);
/// Only simulate has it: compare has --methods.
constexpr Setting kMethod = {"--method", "method", Kind::text,
                             "How clients are chosen (heuristic.random); --list shows all"};

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

}  // namespace

base::Result<Json> settings_json(const SimulateWords& words) {
  Json given = Json::object();
  for (std::size_t i = 0; i < words.settings.size(); ++i) {
    if (!words.settings[i]) continue;
    const Setting& setting = i < kSettingCount ? kSettings[i] : kMethod;
    auto value = value_of(setting, *words.settings[i]);
    if (!value) return value.error();
    given.set(setting.key, *std::move(value));
  }
  return given;
}

void add_simulate_options(CLI::App& verb, SimulateWords& words) {
  words.settings.resize(kSettingCount + (words.compare ? 0 : 1));
  if (words.compare) {
    verb.add_option("--methods", words.methods, "Methods to compare, separated by commas");
  } else {
    verb.add_option(kMethod.option, words.settings.back(), kMethod.help)->take_last();
  }
  verb.add_option("--method-option", words.method_options,
                  "name=value of the method, or method:name=value; --list shows them")
      ->take_all();
  for (std::size_t i = 0; i < kSettingCount; ++i)
    verb.add_option(kSettings[i].option, words.settings[i], kSettings[i].help)->take_last();
  verb.add_option("--data", words.data, "Folder of the data set's files");
  verb.add_option("--seeds", words.seeds, "Simulate once with each seed, e.g. 1,2,3");
  verb.add_option("--repeats", words.repeats, "Number of seeds, from --seed on");
  verb.add_option("--config", words.config, "JSON with options as keys; the command line wins");
  verb.add_option("--parallel-clients,--threads", words.parallel_clients,
                  "Clients trained at a time, or auto: what memory and cores allow")
      ->capture_default_str();
  verb.add_option("--memory", words.memory, "What the process may use, e.g. 2GiB");
  verb.add_option("--folder", words.folder,
                  "Folder for the run's files (a new one below ebb-runs)");
  verb.add_option("--resume", words.resume, "Continue the simulation in this folder");
  verb.add_flag("--no-folder", words.no_folder, "Write no files: nothing can be resumed");
  verb.add_option("--checkpoint-every", words.checkpoint_every, "Rounds between checkpoints")
      ->capture_default_str();
  verb.add_option("--gc-rounds", words.gc_rounds, "Rounds between light cleanups; 0 for never")
      ->capture_default_str();
  verb.add_option("--heavy-gc-rounds", words.heavy_gc_rounds, "Rounds between deep cleanups")
      ->capture_default_str();
  verb.add_option("--warn", words.warn, "Print a line at this percentage of the limit")
      ->capture_default_str();
  verb.add_option("--critical", words.critical,
                  "At this percentage clean up, then train fewer at a time")
      ->capture_default_str();
  verb.add_option("--html", words.html, "Also writes one self-contained page");
  verb.add_option("--db", words.db, "File of the record (docs/record.md)");
  verb.add_flag("--no-record", words.no_record, "Record nothing");
  verb.add_flag("--json", words.json, "One JSON object (docs/simulate.md)");
  verb.add_flag("--list", words.list, "Methods, models and data sets");
  verb.add_flag("--dry-run", words.dry_run, "The memory plan and the configuration, no round");
  verb.add_flag("--quiet", words.quiet, "Print only errors on stderr");
}

}  // namespace ebb::cli
