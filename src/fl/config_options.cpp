// SPDX-License-Identifier: Apache-2.0
#include "fl/config.h"
#include "fl/names.h"

namespace ebb::fl {
namespace {

constexpr base::Range kSteps = {"1 to 1000000", 1, true, 1'000'000};
constexpr base::Range kWarmup = {"0 to 1000000", 0, true, 1'000'000};
constexpr base::Range kGamma = {"a number above 0 and at most 1", 0, false, 1};
constexpr base::Range kTrim = {"0 or more and below 0.5", 0, true, 0.5, false};
constexpr base::Range kParallel = {"1 to 4096", 0, true, 4096};
constexpr base::Range kEverySoManyRounds = {"1 to 1000000", 1, true, 1'000'000};
constexpr base::Range kRoundsOrNever = {"0 to 1000000", 0, true, 1'000'000};

}  // namespace

base::Options options_of(Config& c) {
  return {
      {"dataset", &c.dataset, "Data set; --list shows all"},
      {"synthetic_channels", &c.synthetic.picture.channels, "Channels of its pictures"},
      {"synthetic_height", &c.synthetic.picture.height, "Height of its pictures"},
      {"synthetic_width", &c.synthetic.picture.width, "Width of its pictures"},
      {"synthetic_classes", &c.synthetic.classes, "Classes of synthetic"},
      {"synthetic_train", &c.synthetic.train, "Training samples of synthetic"},
      {"synthetic_test", &c.synthetic.test, "Test samples of synthetic"},
      {"model", &c.model, "Network; --list shows all; or a JSON file that describes one"},
      {"network", &c.network, ""},
      {"partition", base::choice<partition_kind_from>(c.partition.kind),
       "iid, dirichlet, shards, users or mix"},
      {"alpha", &c.partition.alpha, "For dirichlet and mix: smaller means fewer labels"},
      {"shards_per_client", &c.partition.shards_per_client,
       "For shards: how many each client gets"},
      {"samples_per_client",
       &c.partition.samples_per_client,
       "For mix: how many each client has on average",
       {},
       &base::kOneOrMore},
      {"sizes", base::choice<size_skew_from>(c.partition.sizes), "none, lognormal or power-law"},
      {"size_sigma", &c.partition.size_sigma, "For lognormal sizes"},
      {"size_alpha", &c.partition.size_alpha, "For power-law sizes"},
      {"clients", &c.clients, "Clients in all", {}, &base::kOneOrMore},
      {"per_round", &c.per_round, "Clients chosen in a round", {}, &base::kOneOrMore},
      {"rounds", &c.rounds, "Rounds", {}, &base::kOneOrMore},
      {"epochs", &c.epochs, "Passes over a client's samples in a round", {}, &base::kOneOrMore},
      {"local_steps",
       &c.local_steps,
       "Batches that each client trains on in a round, in place of epochs",
       {},
       &kSteps},
      {"batch", &c.batch, "Samples per step", {}, &base::kOneOrMore},
      {"lr", &c.lr, "Learning rate of the clients", {}, &base::kAboveZero},
      {"lr_schedule", base::choice<schedule_from>(c.schedule.kind),
       "constant, step or cosine: how it goes from round to round"},
      {"lr_warmup", &c.schedule.warmup, "Rounds in which it rises first", {}, &kWarmup},
      {"lr_step_size", &c.schedule.step_size, "For step: rounds from one to the next", {}, &kSteps},
      {"lr_gamma", &c.schedule.gamma, "For step: what each multiplies it by", {}, &kGamma},
      {"lr_t_max",
       &c.schedule.t_max,
       "For cosine: rounds until its end (those that are left after the warm-up)",
       {},
       &kSteps},
      {"lr_eta_min", &c.schedule.eta_min, "For cosine: where it ends", {}, &base::kNotNegative},
      {"seed", &c.seed, "Seed of all random numbers"},
      {"eval_every", &c.eval_every, "Rounds between evaluations", {}, &base::kOneOrMore},
      {"eval_clients_every",
       &c.eval_clients_every,
       "The same for each client on its own samples; 0 for never",
       {},
       &kRoundsOrNever},
      {"method", &c.method, "How clients are chosen; --list shows all"},
      {"method_parameters", &c.method_parameters, ""},
      {"candidates", &c.candidates,
       "Of more clients, how many are looked at by methods that ask or compare all; 0: all"},
      {"workflow", base::choice<workflow_from>(c.workflow), "server, cyclic or swarm"},
      {"aggregation", base::choice<rule_from>(c.aggregation.rule),
       "fedavg, fedprox, scaffold, fedavgm, fedadam, fedyogi, median or trimmed-mean",
       "--aggregation,--rule"},
      {"weighting", base::choice<weighting_from>(c.aggregation.weighting),
       "samples or none: what each update counts in a mean"},
      {"proximal", &c.aggregation.proximal, "mu of fedprox", {}, &base::kNotNegative},
      {"server_lr", &c.aggregation.server_lr, "Step of the aggregator", {}, &base::kAboveZero},
      {"momentum",
       &c.aggregation.momentum,
       "For fedavgm; beta1 of fedadam, fedyogi",
       {},
       &base::kShare},
      {"beta2", &c.aggregation.beta2, "For fedadam and fedyogi", {}, &base::kShare},
      {"tau", &c.aggregation.tau, "For fedadam and fedyogi", {}, &base::kAboveZero},
      {"trim", &c.aggregation.trim, "Share that trimmed-mean drops at either end", {}, &kTrim},
      {"dropout", &c.world.dropout, "Chance that a chosen client never answers"},
      {"deadline", &c.world.deadline, "Simulated seconds after which a round is closed"},
      {"staleness", &c.world.staleness, "Rounds by which an update may be late"},
      {"round_timeout", &c.world.round_timeout,
       "For swarm: simulated seconds that a model may take to its aggregator"},
      {"dp_clip", &c.privacy.clip, "Differential privacy: norm to clip updates to; 0: off"},
      {"dp_noise", &c.privacy.noise, "Noise added to their sum, in units of that norm"},
      {"dp_delta", &c.privacy.delta, "Delta of the privacy spent"},
      {"dp_sampling", base::choice<sampling_from>(c.privacy.sampling),
       "fixed or poisson: each client of a round by itself, as many on average"},
      {"dp_target_quantile", &c.privacy.target_quantile,
       "Share of updates that the norm is to let through; it then follows them"},
      {"dp_clip_lr", &c.privacy.clip_lr, "How fast it does"},
      {"dp_count_noise", &c.privacy.count_noise,
       "Noise on the count of those, in clients (a twentieth of them, or dp_noise)"},
      {"backend", &c.backend, "native, onednn, cuda or auto: the fastest here"},
  };
}

base::Options options_of(NvflareSettings& s) {
  return {
      {"server_memory_gc_rounds",
       &s.server_memory_gc_rounds,
       "As in NVFlare: rounds between cleanups after the server has aggregated; 0 for never",
       {},
       &kRoundsOrNever},
      {"client_memory_gc_rounds",
       &s.client_memory_gc_rounds,
       "The same after clients have trained",
       {},
       &kRoundsOrNever},
      {"memory_gc_rounds",
       &s.memory_gc_rounds,
       "The same of a swarm, for trainers and aggregators",
       {},
       &kRoundsOrNever},
      {"cuda_empty_cache", &s.cuda_empty_cache,
       "true or false: whether cleanups empty device caches (deep ones alone)"},
  };
}

base::Options options_of(Execution& e) {
  base::Options options = {
      {"data", &e.data_folder, "Folder of the data set's files"},
      {"parallel_clients", base::CountOrAuto{&e.parallel_clients},
       "Clients trained at a time, or auto: what memory and cores allow",
       "--parallel-clients,--threads", &kParallel},
      {"memory", base::Bytes{&e.memory}, "What the process may use, e.g. 2GiB"},
      {"checkpoint_every",
       &e.checkpoint_every,
       "Rounds between checkpoints",
       {},
       &kEverySoManyRounds},
      {"gc_rounds",
       &e.gc_rounds,
       "Rounds between light cleanups; 0 for never",
       {},
       &kRoundsOrNever},
      {"heavy_gc_rounds", &e.heavy_gc_rounds, "Rounds between deep cleanups", {}, &kRoundsOrNever},
      {"warn", &e.warn_percent, "Print a line at this percentage of the limit"},
      {"critical", &e.critical_percent, "At this percentage clean up, then train fewer at a time"},
      {"gpu_warn", &e.gpu_warn_percent, "Print a line at this percentage of the card's memory"},
      {"gpu_critical", &e.gpu_critical_percent,
       "At this percentage empty the card's cache, where that lasts"},
      {"headroom", base::Bytes{&e.headroom},
       "What to keep free on the card between rounds, e.g. 1GiB"},
  };
  for (base::Option& option : options_of(e.nvflare))
    options.push_back(std::move(option));
  return options;
}

base::Json to_json(const Config& config) {
  Config copy = config;
  base::Json json = base::Json::object();
  for (const base::Option& option : options_of(copy))
    json.set(option.key, base::to_json(option));
  return json;
}

base::Result<Config> config_from(const base::Json& json, Config over) {
  const base::Json::Object* members = json.as_object();
  if (members == nullptr)
    return base::error(base::Code::bad_input, "configuration: %s, expected an object",
                       json.text().substr(0, 60).c_str());
  const base::Options options = options_of(over);
  for (const auto& [key, value] : *members) {
    const base::Option* const found = base::find(options, key);
    if (found == nullptr) {
      std::vector<std::string_view> known;
      for (const base::Option& option : options)
        known.push_back(option.key);
      return unknown_name("option", key, known);
    }
    if (const auto read = base::set(*found, value); !read) return read.error();
  }
  over.synthetic.seed = over.seed;
  return over;
}

}  // namespace ebb::fl
