// SPDX-License-Identifier: Apache-2.0
#include "plan/client_table.h"

#include <array>
#include <cctype>

#include "base/text.h"
#include "plan/options.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::kMiB;

struct CardSize {
  std::string_view name;
  std::uint64_t mebibytes;  ///< as nvidia-smi shows them
};
constexpr std::array kCardSizes = {
    CardSize{"RTX 3060", 12'288},  CardSize{"T4", 15'360},   CardSize{"RTX 4090", 24'564},
    CardSize{"A100 40GB", 40'960}, CardSize{"L40S", 46'068}, CardSize{"H100", 81'559},
    CardSize{"H200", 143'771},
};

std::string bare_card(std::string_view name) {
  std::string bare;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return bare;
}

base::Result<ClientTable::Row> row_of(const std::string& model, const ClientTableOptions& options,
                                      const std::vector<Card>& cards) {
  NetworkOptions words;
  words.name = model;
  words.precision = options.precision;
  words.optimizer = options.optimizer;
  words.context = options.context;
  words.batch = options.batch;
  words.channels = options.channels;
  words.size = options.size;
  words.classes = options.classes;
  const auto request = request_of(words);
  if (!request) return request.error();
  auto planned = plan(*request);
  if (!planned) return planned.error();
  ClientTable::Row row;
  row.model = request->network.name;
  for (const Card& card : cards)
    row.on.push_back(clients_on_gpu(*planned, card.bytes));
  row.plan = std::move(*planned);
  return row;
}

}  // namespace

std::vector<Card> known_cards() {
  std::vector<Card> cards;
  for (const CardSize& card : kCardSizes)
    cards.push_back({std::string(card.name), card.mebibytes * kMiB});
  return cards;
}

base::Result<Card> card_from(std::string_view text) {
  std::vector<std::string_view> names;
  for (const CardSize& card : kCardSizes) {
    if (bare_card(card.name) == bare_card(text))
      return Card{std::string(card.name), card.mebibytes * kMiB};
    names.push_back(card.name);
  }
  const std::string shown(text.substr(0, 60));
  if (const auto bytes = base::parse_bytes(text); bytes && *bytes > 0) return Card{shown, *bytes};
  if (const auto guess = base::nearest(text, names))
    return base::error(Code::bad_input, "--card '%s': did you mean '%s'?", shown.c_str(),
                       std::string(*guess).c_str());
  std::string known;
  for (const std::string_view name : names)
    known += std::string(name) + ", ";
  return base::error(Code::bad_input, "--card '%s': expected %sor bytes such as 24GiB",
                     shown.c_str(), known.c_str());
}

base::Options options_of(ClientTableOptions& o) {
  return {
      {"model", &o.models, "A network of the simulator, more than once for more (all of them)"},
      {"card", &o.cards,
       "A card by its name, or bytes such as 24GiB, more than once for more (common cards)"},
      {"batch", &o.batch, "Samples of one step of one client"},
      {"precision", &o.precision, "fp32 or amp (bf16 autocast)"},
      {"optimizer", &o.optimizer, "adamw, adam, sgd, sgdm, adam8bit or adafactor"},
      {"channels", &o.channels, "Channels of a picture"},
      {"size", &o.size, "Height and width of a picture"},
      {"classes", &o.classes, "Classes"},
      {"context", base::Bytes{&o.context}, "What CUDA itself takes on the device (512MiB)"},
  };
}

base::Result<ClientTable> client_table(const ClientTableOptions& options) {
  ClientTable table;
  for (const std::string& name : options.cards) {
    auto card = card_from(name);
    if (!card) return card.error();
    table.cards.push_back(std::move(*card));
  }
  if (table.cards.empty()) table.cards = known_cards();
  std::vector<std::string> models = options.models;
  if (models.empty())
    for (const std::string_view name : network_names())
      models.emplace_back(name);
  for (const std::string& model : models) {
    auto row = row_of(model, options, table.cards);
    if (!row) return row.error();
    table.rows.push_back(std::move(*row));
  }
  return table;
}

base::Json to_json(const ClientTable& table) {
  base::Json cards = base::Json::array();
  for (const Card& card : table.cards)
    cards.push(base::Json::object({{"name", card.name}, {"bytes", card.bytes}}));
  base::Json models = base::Json::array();
  for (const ClientTable::Row& row : table.rows) {
    base::Json clients = base::Json::array();
    for (std::size_t i = 0; i < row.on.size(); ++i)
      clients.push(base::Json::object({{"card", table.cards[i].name}, {"count", row.on[i].count}}));
    models.push(base::Json::object({{"name", row.model},
                                    {"subject", row.plan.subject},
                                    {"parameters", row.plan.parameters},
                                    {"per_client_bytes", row.on.front().per_client},
                                    {"shared_bytes", row.on.front().shared},
                                    {"clients", std::move(clients)}}));
  }
  return base::Json::object({{"cards", std::move(cards)}, {"models", std::move(models)}});
}

}  // namespace ebb::plan
