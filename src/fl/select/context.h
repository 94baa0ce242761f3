// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fl/select/selector.h"
#include "fl/select/state.h"

namespace ebb::fl::select {

/// What contextual bandits see of a client: 1; never seen; last loss; how long ago; its share of
/// data; the entropy of its labels; speed; participations. All of the order of 1.
using Context = std::array<double, 8>;

std::vector<Context> contexts_of(const Choice& choice);

/// How far a client's loss may lie from what a model of all clients says of it: the deviation of
/// the model and of an own intercept that each participation makes surer (the hybrid model of
/// LinUCB's paper, with the intercept alone). Whoever was never seen can always be a surprise.
double deviation_with_own(double deviation, const Client& client);

/// Contexts of chosen clients until their rewards arrive, which may be rounds later or never.
class PendingContexts {
 public:
  void keep(std::uint32_t client, const Context& context) { contexts_[client] = context; }

  /// The context in which `client` was last chosen, once.
  std::optional<Context> take(std::uint32_t client);

  /// Adds the members "pending" and "pending_contexts" to `state`; and reads them.
  void save(base::Json& state) const;
  static PendingContexts read(StateReader& reader);

 private:
  std::map<std::uint32_t, Context> contexts_;
};

}  // namespace ebb::fl::select
