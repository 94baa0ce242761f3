// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fl/random.h"
#include "fl/select/selector.h"

namespace ebb::fl::select {

using Ids = std::vector<std::uint32_t>;

/// A loss or norm fit for comparing: at most 1e9, and 0 for what is not finite, since a client
/// whose training diverged has nothing to teach.
double measured(double value);

/// Every index, or the first `count` of them: highest score first, equal ones in random order; what
/// is not a number comes last.
Ids ranked(std::span<const double> scores, Random& random, std::size_t count = SIZE_MAX);

/// Who is left alone in this round. Whoever was chosen in vain is chosen again with a chance that
/// halves each time: those who never answer would otherwise stay unexplored, or keep an old high
/// loss, and fill every cohort.
std::vector<bool> silent_ones(const Choice& choice);

/// As ranked(), but clients without a score come first, in random order, because what they are
/// worth is found out by choosing them; and silent_ones() last.
Ids best_first(const Choice& choice, std::span<const std::optional<double>> scores,
               std::size_t count = SIZE_MAX);

/// Everyone, by what is known of them.
struct Acquaintance {
  Ids seen;
  Ids unseen;
  Ids silent;  ///< whether seen or not
};
Acquaintance acquaintance(const Choice& choice);

/// The first `count` of `ids`.
Ids first(Ids ids, std::size_t count);

/// `count` different indices, drawn one after the other in proportion to their weights; those
/// without weight only when no other is left. Requires: no weight negative, count <=
/// weights.size().
Ids drawn(std::span<const double> weights, std::size_t count, Random& random);

/// As drawn(), from `ids`, whose weights stand at the same places.
Ids drawn(const Ids& ids, std::span<const double> weights, std::size_t count, Random& random);

/// `count` of `ids` (all where there are fewer), each set equally likely, in random order.
Ids some_of(const Ids& ids, std::size_t count, Random& random);

/// For stochastic greedy maximisation (Mirzasoleiman et al., AAAI 2015): of those not `taken`, as
/// many at random as one of `picks` steps must look at to come within `tolerance` of full greedy.
Ids candidates(const std::vector<bool>& taken, std::size_t picks, double tolerance, Random& random);

/// Shifts and scales to [0, 1]; all 0 where all are equal.
void normalise(std::span<double> values);

/// What is known of each client, normalised; 1 if nothing is known yet, less if the client was
/// chosen and did not answer.
std::vector<double> hopeful(std::span<const Client> clients, std::optional<double> Client::*what);

/// The smallest of `values` that at least `share` of them do not exceed. Requires: one value.
double quantile(std::vector<double> values, double share);

/// What `choice.probe` says of `ids`, one number each, fit for comparing.
base::Result<std::vector<double>> fresh_losses(const Choice& choice, const Ids& ids);

/// A parameter that counts something.
std::uint32_t whole(double value);

}  // namespace ebb::fl::select
