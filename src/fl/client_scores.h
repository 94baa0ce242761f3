// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/json.h"
#include "base/result.h"

namespace ebb::fl {

/// What the clients' values of one kind come to, each client counted alike.
struct ClientSpread {
  double mean = 0;
  double deviation = 0;    ///< standard, of the clients' values
  double worst_tenth = 0;  ///< mean of the worst tenth of them, rounded up to whole clients
};

/// What the global model is to each client, on the client's own training samples.
struct ClientScores {
  ClientSpread accuracy;
  ClientSpread loss;
};

enum class Better : std::uint8_t { higher, lower };

/// Requires: some values.
ClientSpread spread_of(std::span<const double> values, Better better);

base::Json to_json(const ClientScores& scores);
/// Code::bad_input where a key is missing.
base::Result<ClientScores> client_scores_from(const base::Json& json);

}  // namespace ebb::fl
