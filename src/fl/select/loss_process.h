// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "fl/select/selector.h"

namespace ebb::fl::select {

/// The Gaussian process of FedCor: how the clients' losses change together in a round.
///
/// The covariance of clients i and j is x_i' M x_j, where M is the identity until a client is
/// conditioned on. The paper learns the x by descent; here they are the centred loss changes
/// themselves, which is the covariance of that rank that the changes are most likely under.
class LossProcess {
 public:
  /// `changes` of every client's loss, one list per measured round. Requires: at least one.
  LossProcess(const std::vector<std::vector<double>>& changes, std::span<const Client> clients);

  /// By how much the loss over all data is expected to fall when this client's falls by one
  /// standard deviation.
  double benefit(std::size_t client) const;

  /// Leaves what is still uncertain once this client's change is known.
  void condition_on(std::size_t client);

 private:
  std::span<const double> embedding(std::size_t client) const;
  std::vector<double> apply(std::span<const double> vector) const;

  std::size_t rank_;
  std::vector<double> embeddings_;  ///< client by client
  std::vector<double> posterior_;   ///< M, by rows
  std::vector<double> variance_;    ///< of each client's change
  std::vector<double> covariance_;  ///< of each client's change and that of the loss over all data
  double noise_ = 0;                ///< variance of a change that has no cause in common
};

}  // namespace ebb::fl::select
