// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/option.h"
#include "base/result.h"
#include "fl/data/data_set.h"
#include "fl/data/partition.h"
#include "fl/privacy.h"
#include "fl/select/selector.h"
#include "fl/world.h"
#include "plan/network.h"

namespace ebb::fl {

/// How models travel.
enum class Workflow : std::uint8_t {
  server,  ///< a server sends the model to a cohort and aggregates what comes back
  cyclic,  ///< the model goes from client to client of the cohort, each trains on
  swarm,   ///< as server, but each round another client of the cohort aggregates
};

/// What the aggregator makes of updates.
enum class Rule : std::uint8_t {
  fedavg,        ///< mean weighted by samples (McMahan et al. 2017)
  fedprox,       ///< fedavg with a pull towards the global model in training (Li et al. 2020)
  scaffold,      ///< unweighted, with control variates, option I (Karimireddy et al. 2020)
  fedavgm,       ///< momentum at the server (Hsu et al. 2019)
  fedadam,       ///< Adam at the server (Reddi et al. 2021)
  fedyogi,       ///< Yogi at the server (Reddi et al. 2021)
  median,        ///< coordinate-wise, unweighted (Yin et al. 2018)
  trimmed_mean,  ///< coordinate-wise without the extremes, unweighted (Yin et al. 2018)
};

/// What an update counts in a mean.
enum class Weighting : std::uint8_t {
  samples,  ///< as many as its client has samples
  none,     ///< all alike
};

struct Aggregation {
  Rule rule = Rule::fedavg;
  Weighting weighting = Weighting::samples;
  double proximal = 0.01;  ///< mu of fedprox
  double server_lr = 1;    ///< of all; FedAdam and FedYogi want less, e.g. 0.01
  double momentum = 0.9;   ///< of fedavgm; beta1 of fedadam and fedyogi
  double beta2 = 0.99;
  double tau = 1e-3;  ///< of fedadam and fedyogi: how adaptive they may be
  double trim = 0.1;  ///< share that trimmed_mean drops at either end
};

/// How the learning rate of clients goes from round to round; PyTorch's StepLR and
/// CosineAnnealingLR, with rounds in the place of epochs.
enum class ScheduleKind : std::uint8_t {
  constant,
  step,    ///< times `gamma` every `step_size` rounds
  cosine,  ///< along half a cosine down to `eta_min` within `t_max` rounds
};

struct RateSchedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint32_t warmup = 0;                ///< rounds in which the rate rises first
  std::optional<std::uint64_t> step_size;  ///< of step
  double gamma = 0.1;                      ///< of step
  std::optional<std::uint64_t> t_max;      ///< of cosine; else the rounds after the warm-up
  double eta_min = 0;                      ///< of cosine
};

/// Everything that decides what a simulation comes to. Two runs of one Config give the same bits on
/// one machine, however they are executed.
struct Config {
  std::string dataset = "fashion-mnist";
  SyntheticOptions synthetic;          ///< of the data set "synthetic"; its seed is `seed`
  std::string model = "cnn-mnist";     ///< a name, or a file that describes one
  std::optional<std::string> network;  ///< what that file says
  PartitionOptions partition;

  std::uint32_t clients = 100;
  std::uint32_t per_round = 10;
  std::uint32_t rounds = 10;
  std::uint32_t epochs = 1;
  std::optional<std::uint64_t> local_steps;  ///< of each client in a round, in place of epochs
  std::uint32_t batch = 32;
  double lr = 0.01;
  RateSchedule schedule;
  std::uint64_t seed = 42;
  std::uint32_t eval_every = 1;  ///< rounds; the last one is always evaluated
  /// The same for clients, each on its own samples; 0: never, not even the last.
  std::uint32_t eval_clients_every = 0;

  std::string method = "heuristic.random";
  ParameterValues method_parameters;
  std::uint32_t candidates = 10000;  ///< CandidateLimit::most
  Workflow workflow = Workflow::server;
  Aggregation aggregation;
  WorldOptions world;
  PrivacyOptions privacy;

  /// Arithmetic: "native", "onednn", "cuda", or "auto": the faster one here, chosen once.
  std::string backend = "auto";
};

/// NVFlare's names for when memory is cleaned up. Where one is set, cleanups come where NVFlare has
/// them, and no longer after every round.
struct NvflareSettings {
  std::optional<int> server_memory_gc_rounds;  ///< after aggregations; of a cycle, after rounds
  std::optional<int> client_memory_gc_rounds;  ///< after the clients of a round have trained
  /// Of a swarm, both: the aggregators', and the trainers' where the one above says nothing.
  std::optional<int> memory_gc_rounds;
  std::optional<bool> cuda_empty_cache;  ///< else in deep cleanups alone

  bool any_rounds() const {
    return server_memory_gc_rounds || client_memory_gc_rounds || memory_gc_rounds;
  }
  std::optional<int> of_aggregators() const {
    return memory_gc_rounds ? memory_gc_rounds : server_memory_gc_rounds;
  }
  std::optional<int> of_trainers() const {
    return client_memory_gc_rounds ? client_memory_gc_rounds : memory_gc_rounds;
  }
};

/// How a simulation is executed; nothing here changes its results.
struct Execution {
  std::string data_folder;              ///< "": where Debian keeps the data set
  std::uint32_t parallel_clients = 0;   ///< 0: from measured need and free memory
  std::optional<std::uint64_t> memory;  ///< bytes that the process may use
  std::string folder;                   ///< of the run's files; "": none are written
  bool resume = false;                  ///< go on from the folder's checkpoint
  bool begins_again = false;            ///< what is in the folder has no checkpoint yet
  std::uint32_t checkpoint_every = 1;   ///< rounds
  int gc_rounds = 1;                    ///< light cleanup after every so many rounds; 0 never
  int heavy_gc_rounds = 10;             ///< deep one likewise
  NvflareSettings nvflare;
  double warn_percent = 85;
  double critical_percent = 90;
  double gpu_warn_percent = 90;  ///< of the card that trains
  double gpu_critical_percent = 97;
  std::optional<std::uint64_t> headroom;  ///< bytes of that card to be left to others
  bool markers = false;  ///< tell the observer of RSS markers, after aggregations and rounds
};

const char* name_of(Workflow workflow);
const char* name_of(Rule rule);
const char* name_of(Weighting weighting);
const char* name_of(ScheduleKind kind);
/// Code::bad_input names the nearest.
base::Result<Workflow> workflow_from(std::string_view name);
base::Result<Rule> rule_from(std::string_view name);
base::Result<Weighting> weighting_from(std::string_view name);
base::Result<ScheduleKind> schedule_from(std::string_view name);

/// Every model, as Config::model takes it, e.g. "cnn-mnist".
std::vector<std::string> model_names();

/// The network that `config` trains; of its file's text, where it has one.
base::Result<plan::Network> network_of(const Config& config, const plan::Picture& picture,
                                       std::uint64_t classes);

/// Code::bad_input names the option that is out of its range or does not go with another.
base::Status check(const Config& config);
/// The same for settings that the workflow has no place for.
base::Status check(const NvflareSettings& settings, Workflow workflow);
/// The same for all of it, with the options' names on the command line.
base::Status check(const Execution& execution, Workflow workflow);

/// What `said` leaves open, as `others` say.
void add_missing(const NvflareSettings& others, NvflareSettings& said);

/// Every field, once for all who read or write it: JSON, the command line, --help.
base::Options options_of(Config& config);
base::Options options_of(NvflareSettings& settings);
base::Options options_of(Execution& execution);

/// Every field under its key ("per_round", "alpha", …).
base::Json to_json(const Config& config);

/// The fields that `json` has, over those of `over`. Code::bad_input for an unknown key (with the
/// nearest) or a value of the wrong kind.
base::Result<Config> config_from(const base::Json& json, Config over = {});

}  // namespace ebb::fl
