// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/option.h"
#include "plan/fit.h"

namespace ebb::plan {

/// A card, and the memory that its driver shows.
struct Card {
  std::string name;
  std::uint64_t bytes = 0;
};

/// Cards that are common in clusters and under desks.
std::vector<Card> known_cards();

/// One of them, in whatever case and punctuation, or bytes such as "24GiB".
base::Result<Card> card_from(std::string_view text);

/// The options of `ebb plan clients`, on the command line and through the C interface.
struct ClientTableOptions {
  std::vector<std::string> models;  ///< none: all networks of the simulator
  std::vector<std::string> cards;   ///< none: known_cards()
  std::optional<std::string> precision, optimizer;
  std::optional<std::uint64_t> context;  ///< bytes
  std::uint64_t batch = 32;
  std::uint64_t channels = 1;
  std::uint64_t size = 28;
  std::uint64_t classes = 10;
};
base::Options options_of(ClientTableOptions& options);

/// How many clients train side by side on a card, in one process, by model and card.
struct ClientTable {
  struct Row {
    Plan plan;
    std::string model;
    std::vector<ParallelClients> on;  ///< beside ClientTable::cards
  };
  std::vector<Card> cards;
  std::vector<Row> rows;
};

/// Code::bad_input for what is unknown, and as plan() does.
base::Result<ClientTable> client_table(const ClientTableOptions& options);

/// As JSON; the keys are documented in docs/plan.md.
base::Json to_json(const ClientTable& table);

}  // namespace ebb::plan
