// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fl/aggregate/aggregator.h"
#include "fl/aggregate/control_variates.h"
#include "fl/card_groups.h"
#include "fl/card_patience.h"
#include "fl/checkpoint.h"
#include "fl/client_log.h"
#include "fl/data/population.h"
#include "fl/network_shape.h"
#include "fl/pressure_gate.h"
#include "fl/privacy_spent.h"
#include "fl/simulation.h"
#include "fl/worker_threads.h"

namespace ebb::fl {

/// The rounds of one simulation. Every rank has one, and they go through the same rounds; each
/// trains its part of the cohorts. Not thread-safe. The resources outlive it.
class Engine {
 public:
  /// Code::bad_input for what cannot be simulated.
  static base::Result<std::unique_ptr<Engine>> create(const Config& config,
                                                      const Execution& execution,
                                                      SimulationResources& resources,
                                                      std::uint32_t parallel_clients);

  /// Before everything below: agrees with the other ranks, and makes what updates go into; in
  /// `folder` where that takes a file.
  base::Status open(const std::string& folder);

  /// Called when a part of a round is done.
  struct Steps {
    std::function<void()> trained;
    std::function<void()> aggregated;  ///< not in a cycle, where nobody aggregates
  };
  /// The next round; its report has no memory in it yet, and of its time only what is spent here.
  base::Result<RoundReport> run_round(const Steps& steps);
  /// How many rounds are done.
  std::uint32_t rounds_done() const { return round_; }

  /// Of the present model on the test set.
  base::Result<Scores> evaluate();
  /// Of the present model on the samples of each client.
  base::Result<ClientScores> evaluate_clients();

  std::string model_sha256() const;
  PressureGate& gate() { return gate_; }
  CardPatience& patience() { return patience_; }
  /// Norm of the next round's updates under differential privacy.
  double clip() const { return clip_; }
  /// Of the card that trains.
  const CardGroups& groups() const { return groups_; }
  WorkerThreads& workers() { return workers_; }

  /// Everything that the next rounds depend on, packed, with what binds the `lines` of the rounds
  /// to it; "" on all ranks but the first.
  base::Result<std::string> save(const base::Json& lines);
  /// Code::bad_input where it is not of this simulation; then only destroying the engine is left.
  base::Status restore(const Checkpoint& checkpoint);

 private:
  /// A member of a cohort who trains here or on another rank.
  struct Member {
    std::uint32_t client = 0;
    Fate fate;
    LocalResult result;
    double norm = 0;  ///< of the update
    double gradient_norm = 0;
    std::vector<float> sketch;
    bool learned = false;  ///< its control variate, where a card trains
  };
  class GroupCorrections;
  /// What a late update says of its client, to be learned in round `due`.
  struct Late {
    std::uint32_t due = 0;
    ClientReport client;
  };
  /// Since round 0.
  struct Totals {
    double communicated_bytes = 0;
    double flops = 0;
    double simulated_seconds = 0;
    double energy = 0;
  };

  Engine(const Config& config, const Execution& execution, SimulationResources& resources,
         std::uint32_t parallel_clients, Holdings holdings, NetworkShape shape, World world,
         std::unique_ptr<Selector> selector);

  base::Result<std::vector<std::uint32_t>> choose_cohort(RoundReport& report);
  /// Each client by itself.
  std::vector<std::uint32_t> draw_cohort() const;
  base::Result<std::vector<double>> probe(std::span<const std::uint32_t> clients);
  std::vector<std::uint32_t> visiting_order(std::uint32_t client) const;
  LocalTask task_of(std::uint32_t client, std::span<const std::uint32_t> order) const;
  /// Samples in a round.
  double visited_by(std::uint32_t client) const;
  bool is_mine(std::size_t item) const;

  /// Trains, and tells the time of it from that of adding up.
  base::Status train_and_measure(std::vector<Member>& members, RoundReport& report);
  base::Status train_cohort(std::vector<Member>& members);
  base::Status train_one(std::uint32_t slot, std::uint32_t place, Member& member);
  /// Of scaffold: what the client's steps go by; and what it has learned, beside its update.
  void correct(std::uint32_t slot, LocalTask& task);
  base::Status learn_control(std::uint32_t slot, const Member& member, const LocalTask& task);
  base::Status finish_controls(const std::vector<Member>& members);
  base::Status train_groups(std::vector<Member>& members, std::span<const std::uint32_t> mine);
  /// Trains members, each a contribution; those that an earlier attempt has added stay added.
  base::Status train_group(std::vector<Member>& members,
                           std::span<GroupContribution> contributions);
  /// With what they go by and learn, of scaffold.
  base::Status train_with_controls(std::vector<Member>& members,
                                   std::span<const GroupContribution> contributions,
                                   std::span<const LocalTask> tasks,
                                   const Trainer::Trained& trained);
  base::Status contribute_group(std::vector<Member>& members,
                                std::span<GroupContribution> contributions,
                                std::span<const LocalResult> results, UpdateGroup& updates);
  /// Has all ranks go on with groups of the same sizes.
  base::Status agree_on_groups();
  /// What a checkpoint has of the clients; and back.
  base::Result<base::Json> save_clients();
  base::Status restore_clients(const base::Json& saved);
  /// Code::bad_input where `saved` are no groups; null where an earlier Ebb did not write them.
  base::Status restore_groups(const base::Json* saved);
  /// Again and again where the card that trains is out of memory.
  base::Status insist(const std::function<base::Status()>& attempt,
                      double seconds = CardPatience::kSeconds);
  base::Result<Evaluation> evaluate_on(std::uint32_t slot, const Split& split,
                                       std::span<const std::uint32_t> samples);
  base::Status train_in_turn(std::vector<Member>& members);
  base::Status contribute(std::uint32_t place, Member& member, std::span<const float> trained);
  /// How the member's update counts, whose norm is known.
  Contribution contribution_of(std::uint32_t place, const Member& member) const;
  base::Error diverged(const Member& member, const base::Error& why) const;
  void take_note(Member& member, std::span<const float> from, std::span<const float> trained) const;
  double gradient_norm_of(const Member& member) const;
  base::Status exchange(std::vector<Member>& members);
  base::Status aggregate();
  /// Has the norm of updates follow what was published of theirs.
  void adapt_clip(const std::vector<Member>& members, RoundReport& report);
  void learn(const std::vector<Member>& members, RoundReport& report);
  void account(const std::vector<Member>& members, RoundReport& report);

  const Config config_;
  SimulationResources& resources_;
  const Holdings holdings_;
  const NetworkShape shape_;
  World world_;
  const std::unique_ptr<Selector> selector_;
  Population population_;
  std::unique_ptr<Aggregator> aggregator_;
  std::unique_ptr<ControlVariates> controls_;  ///< null but for scaffold
  ClientLog log_{""};                          ///< of very many clients; on the rank that writes
  const PrivacySpent privacy_;
  PressureGate gate_;
  CardPatience patience_;
  WorkerThreads workers_;

  std::atomic<std::int64_t> adding_ns_ = 0;  ///< of this round's updates, on all threads together
  std::uint32_t round_ = 0;
  CardGroups groups_;
  double clip_;  ///< of this round's updates
  const std::shared_ptr<float[]> memory_;
  const std::span<float> weights_;               ///< in it
  std::vector<std::vector<float>> trained_;      ///< a model for each slot
  std::vector<std::vector<float>> corrections_;  ///< likewise, of scaffold
  std::vector<Late> late_;
  Totals totals_;
};

}  // namespace ebb::fl
