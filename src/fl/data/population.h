// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fl/data/data_set.h"
#include "fl/data/holdings.h"
#include "fl/metrics.h"
#include "fl/select/selector.h"
#include "fl/world.h"

namespace ebb::fl {

/// What the server learns from one client's training.
struct ClientReport {
  std::uint32_t client = 0;
  std::uint32_t round = 0;  ///< in which it trained
  double loss = 0;
  double loss_rms = 0;
  double gradient_norm = 0;
  std::vector<float> sketch;
};

/// All clients, as the server knows them. Not thread-safe.
class Population {
 public:
  /// `with_labels`: clients have Client::labels.
  Population(const Holdings& holdings, const DataSet& data, bool with_labels);

  /// Takes over the world's state of this round.
  void meet(const World& world);
  /// These were chosen; whether they answer is not known yet.
  void choose(std::span<const std::uint32_t> cohort);
  /// An update arrived.
  void learn(const ClientReport& report);

  std::span<const Client> clients() const { return clients_; }
  Participation participation() const;

  /// What was learned, for a checkpoint; and back. Code::bad_input where it is not that.
  base::Json state() const;
  base::Status restore(const base::Json& state);

  /// From now on it is known who has changed: everyone of whom there is something to know, at
  /// first.
  void follow_changes();
  /// Records of those who have changed since the last call, or since they are followed.
  std::string changes();
  /// Takes over the records of any number of changes(), the oldest first. Code::bad_input where
  /// they are none.
  base::Status take(std::string_view records);

 private:
  void changed(std::uint32_t id) {
    if (follows_changes_) changed_.push_back(id);
  }

  std::vector<Client> clients_;
  bool follows_changes_ = false;
  std::vector<std::uint32_t> changed_;  ///< some of them more than once
};

base::Json to_json(const ClientReport& report);
base::Result<ClientReport> client_report_from(const base::Json& json);

}  // namespace ebb::fl
