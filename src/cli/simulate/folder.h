// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/simulate/options.h"
#include "fl/ranks.h"

namespace ebb::cli {

/// Where an order's files go.
class SimulateFolder {
 public:
  /// Chooses it; rank 0 makes it and what a comparison is resumed from. All ranks call it. A new
  /// folder is named after time and method: ./ebb-runs/20261115-163005-heuristic.random.
  static base::Result<SimulateFolder> open(const SimulateOrder& order, fl::Ranks& ranks);

  /// "" where nothing is to be written.
  const std::string& path() const { return path_; }

  /// Of one simulation of the order.
  std::string of(const SimulateOrder& order, std::size_t method, std::size_t seed) const;

  /// Removes it again where nothing was written into it.
  void drop_if_empty() const;

 private:
  std::string path_;
  bool is_new_ = false;
};

/// Whether a simulation has left something in `folder` to go on from.
bool can_be_resumed(const std::string& folder);

/// Removes what a simulation wrote that was ended before its first checkpoint.
void forget_beginning(const std::string& folder);

}  // namespace ebb::cli
