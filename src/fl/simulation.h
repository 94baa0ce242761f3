// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fact/process_sample.h"
#include "fl/card.h"
#include "fl/card_groups.h"
#include "fl/card_keeper.h"
#include "fl/card_use.h"
#include "fl/client_scores.h"
#include "fl/config.h"
#include "fl/memory_plan.h"
#include "fl/metrics.h"
#include "fl/ranks.h"
#include "fl/trainer.h"
#include "keep/cleanup.h"

// fl: federated learning, simulated. Many clients, few in memory at a time; the same bits however
// it is executed. libtorch lives in fl/torch alone.

namespace ebb::fl {

/// What a round's evaluation found.
struct Scores {
  double accuracy = 0;
  double loss = 0;
  MacroScores macro;
};

/// The process's memory at the end of a round, in bytes.
struct RoundMemory {
  fact::ProcessSample now;  ///< live and retained where the round was cleaned up after
  std::uint64_t peak = 0;
  std::uint64_t returned = 0;                 ///< by cleanups after this round
  std::vector<base::DeviceChange> devices{};  ///< the same, of the card that trains
  std::uint32_t parallel_clients = 0;         ///< at the end of the round
  /// The same for pictures that a card evaluates.
  std::optional<std::uint64_t> evaluated_together{};
};

/// Of a round under differential privacy.
struct RoundPrivacy {
  double clip = 0;                ///< the norm that its updates were cut to
  std::optional<double> share{};  ///< of those within it, as published; where the norm follows it
};

struct RoundReport {
  std::uint32_t round = 0;
  std::optional<Scores> scores;  ///< where the round was evaluated
  std::optional<ClientScores> client_scores;
  std::vector<std::uint32_t> cohort;
  std::vector<std::uint32_t> took_part;     ///< whose updates went into this round's model
  std::uint32_t probed = 0;                 ///< who told their losses, for the method to choose
  std::optional<std::uint32_t> aggregator;  ///< of a swarm
  std::optional<double> lr;                 ///< of the clients; an earlier Ebb did not tell
  double train_loss = 0;                    ///< mean over the samples of those who trained
  Participation participation;
  // Sums since round 0.
  double communicated_bytes = 0;
  double flops = 0;
  double simulated_seconds = 0;
  double energy = 0;
  std::optional<double> epsilon;  ///< of differential privacy, spent until now, where known
  std::optional<RoundPrivacy> privacy;

  /// Since the end of the round before; what follows adds up to it.
  double wall_seconds = 0;
  double selection_seconds = 0;
  double training_seconds = 0;
  double sums_seconds = 0;  ///< updates added up, and the model that comes of them
  double evaluation_seconds = 0;
  double cleanup_seconds = 0;
  double writing_seconds = 0;  ///< of the round before, after its end: lines, checkpoint, record
  double other_seconds = 0;
  RoundMemory memory;
  std::optional<CardRound> card;  ///< where one trains
};

/// One simulation from its first round to its last.
struct SimulationResult {
  Config config;  ///< `backend` is the one that was used
  double setup_seconds = 0;
  std::optional<Scores> untrained;
  std::vector<RoundReport> rounds;
  std::uint64_t peak_rss = 0;
  std::string model_sha256;  ///< of the final weights, as little-endian floats
  MemoryPlan plan;
  std::optional<std::uint32_t> resumed_at;  ///< the round a checkpoint had come to
  std::optional<CardGroups> card;           ///< how it was used at the end; the host: nothing
  std::string kernels;                      ///< of that card, as Trainer::kernels says
  std::optional<double> clip;  ///< under differential privacy: the norm of the next round
  bool stopped = false;        ///< by the observer, with a checkpoint where there is a folder
};

/// How many rounds are done.
std::uint32_t rounds_of(const SimulationResult& result);

/// Null where there are none.
base::Json scores_json(const std::optional<Scores>& scores);
base::Result<std::optional<Scores>> scores_from(const base::Json& json);
base::Json to_json(const RoundReport& report);
base::Result<RoundReport> round_report_from(const base::Json& json);
base::Json to_json(const SimulationResult& result);
/// Of whom the method chooses: `count`, `of` how many, when `drawn`; null where of everyone.
base::Json candidates_json(const Config& config);

/// Told what happens, on the thread that simulates.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void planned(const MemoryPlan&) {}
  /// Once, when nothing can refuse the simulation any more, before its first round. Of one that is
  /// resumed the rounds are there that were simulated before.
  virtual void begins(const SimulationResult& /*so_far*/) {}
  virtual void round_done(const RoundReport&) {}
  virtual void warned(const std::string& /*line*/) {}
  /// An RSS marker, where the execution wants them.
  virtual void marked(const std::string& /*line*/) {}
  /// Asked between rounds.
  virtual bool should_stop() { return false; }
};

/// What simulations of one process share: data, arithmetic, ranks. Loaded once.
struct SimulationResources {
  std::shared_ptr<const DataSet> data;
  plan::Network network;
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Ranks> ranks;
  keep::Cleaner* cleaner = nullptr;  ///< outlives it
  std::uint64_t card_available = 0;  ///< memory of the card that trains; 0: the host does
  CardUse card_use;                  ///< how that is used
  std::unique_ptr<Card> card;        ///< null: the host trains
  std::string warning;               ///< to be told to the first observer
  double setup_seconds = 0;
};

/// Loads data and builds the trainer for `config`. Implemented beside libtorch, in fl/torch.
base::Result<SimulationResources> load_resources(const Config& config, const Execution& execution,
                                                 keep::Cleaner& cleaner,
                                                 std::unique_ptr<Ranks> ranks);

/// Runs `config` to its end. Code::bad_input for what cannot be simulated (too few samples, a limit
/// below what is needed: the message has the number), before anything is written.
base::Result<SimulationResult> simulate(const Config& config, const Execution& execution,
                                        SimulationResources& resources, Observer& observer);

}  // namespace ebb::fl
