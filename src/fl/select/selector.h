// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fl/random.h"

namespace ebb::fl {

/// The length of Client::sketch.
inline constexpr std::size_t kSketchLength = 64;

/// What is known of a client when a cohort is chosen. Nothing here comes from the test set. There
/// may be a million of them: members are in an order without gaps.
struct Client {
  /// Samples of each class. Only for selectors that ask for it.
  std::vector<std::uint32_t> labels;
  std::uint32_t samples = 0;

  // The world in this round.
  std::uint32_t tier = 0;  ///< 0 slow, 1 middle, 2 fast
  double speed = 1;        ///< samples' arithmetic per second, relative to the median client
  double channel = 1;      ///< quality of its network, relative
  double seconds = 0;      ///< simulated: training and transfer, if it were chosen now
  double energy = 0;       ///< simulated joules of the same

  /// Times it was chosen since its last update arrived, or ever: it dropped out, was late, or is
  /// still at it.
  std::uint32_t unanswered = 0;

  // What the server knows from its participations; nothing before the first.
  std::uint32_t participations = 0;
  std::optional<std::uint32_t> last_round;
  std::optional<double> loss;           ///< mean over the samples of its last local training
  std::optional<double> loss_rms;       ///< root of the mean squared loss, likewise
  std::optional<double> gradient_norm;  ///< of its last update, per step and learning rate
  /// A random projection of its last update, whose inner products approximate those of updates;
  /// empty before the first participation. Only for selectors that ask for it.
  std::vector<float> sketch;
};

/// One choice of a cohort.
struct Choice {
  /// Mean loss of the present global model on all samples of each of these clients: work that
  /// clients do for the selection.
  using Probe = std::function<base::Result<std::vector<double>>(std::span<const std::uint32_t>)>;

  std::uint32_t round = 0;
  std::uint32_t count = 0;  ///< how many to choose; at most clients.size()
  std::span<const Client> clients;
  std::optional<double> deadline;  ///< simulated seconds that a round may take
  Random& random;                  ///< of this round, for the selector alone
  const Probe& probe;
};

/// What became of a cohort. The clients' losses, norms and sketches are those after the round.
struct Outcome {
  std::uint32_t round = 0;
  std::span<const std::uint32_t> took_part;  ///< those whose updates arrived
  std::span<const Client> clients;
};

/// One way to choose the clients of a round. Not thread-safe; the same calls give the same answers.
class Selector {
 public:
  virtual ~Selector() = default;

  /// `choice.count` different clients.
  virtual base::Result<std::vector<std::uint32_t>> select(const Choice& choice) = 0;

  /// After each round.
  virtual void learn(const Outcome&) {}

  /// Whether it looks at Client::sketch, which is empty otherwise.
  virtual bool needs_sketches() const { return false; }
  /// Likewise Client::labels.
  virtual bool needs_labels() const { return false; }

  /// All that select() depends on beyond its argument and its parameters, for a checkpoint; and
  /// back. Code::bad_input where `state` is not what such a selector saves; it is unchanged then.
  virtual base::Json state() const { return base::Json::object(); }
  virtual base::Status restore(const base::Json& state);
};

/// A number that a method can be tuned by.
struct Parameter {
  std::string_view name;
  double standard = 0;
  double least = 0;
  double most = 0;
  std::string_view meaning;
};

using ParameterValues = std::vector<std::pair<std::string, double>>;

/// How a method that asks or compares everyone does with very many clients: it looks at a sample of
/// them, the candidates. Nobody else is chosen.
enum class CandidatesDrawn : std::uint8_t {
  never,       ///< it looks at everyone
  each_round,  ///< anew in each round
  once,        ///< for all rounds, by the seed: what it has learned is of them
};
const char* name_of(CandidatesDrawn drawn);

struct CandidateLimit {
  std::uint32_t most =
      0;  ///< of more clients, so many are candidates, or a cohort if that is more; 0: all
  std::uint64_t seed = 0;
};

/// A selection method as `ebb simulate --list` shows it.
struct Method {
  std::string_view key;       ///< e.g. "system_aware.oort"
  std::string_view title;     ///< e.g. "Oort"
  std::string_view citation;  ///< who proposed it, where; "" for folklore
  std::string_view summary;   ///< one line
  std::vector<Parameter> parameters;
  /// `values` holds one number per parameter, in their order.
  std::function<std::unique_ptr<Selector>(std::span<const double> values)> create;
  CandidatesDrawn candidates = CandidatesDrawn::never;
};

/// Every method, sorted by key.
const std::vector<Method>& methods();

/// A selector by its method's key. A wrapper's key may be followed by a colon and the method it
/// wraps ("wrapper.quota_safety:heuristic.topk_loss"); parameters that are not the wrapper's are
/// then that method's. Code::bad_input for an unknown key (with the nearest), an unknown parameter
/// or one out of range.
base::Result<std::unique_ptr<Selector>> create_selector(std::string_view key,
                                                        const ParameterValues& parameters = {},
                                                        const CandidateLimit& limit = {});

/// When the candidates of that method are drawn: those of the wrapped one, if it wraps one.
CandidatesDrawn candidates_of(std::string_view key);

}  // namespace ebb::fl
