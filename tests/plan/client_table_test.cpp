// SPDX-License-Identifier: Apache-2.0
#include "plan/client_table.h"

#include <gtest/gtest.h>

namespace ebb::plan {
namespace {

using base::kGiB;

TEST(ClientTable, CountsEveryNetworkOnEveryKnownCard) {
  const auto table = client_table({});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->cards.size(), known_cards().size());
  ASSERT_EQ(table->rows.size(), network_names().size());
  for (const ClientTable::Row& row : table->rows) {
    ASSERT_EQ(row.on.size(), table->cards.size());
    for (std::size_t i = 0; i < row.on.size(); ++i) {
      const ParallelClients expected = clients_on_gpu(row.plan, table->cards[i].bytes);
      EXPECT_EQ(row.on[i].count, expected.count) << row.model;
      EXPECT_GT(row.on[i].count, 1U) << row.model << " on " << table->cards[i].name;
      EXPECT_LE(row.on[i].count * row.on[i].per_client + row.on[i].shared, table->cards[i].bytes);
    }
  }
}

TEST(ClientTable, ALargerModelLeavesRoomForFewer) {
  ClientTableOptions options;
  options.models = {"cnn mnist", "ResNet18"};
  options.cards = {"16GiB"};
  options.channels = 3;
  options.size = 32;
  const auto table = client_table(options);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].model, "CNN-MNIST") << "its own name, however it was written";
  EXPECT_GT(table->rows[0].on[0].count, table->rows[1].on[0].count);
}

TEST(ClientTable, ACardIsNamedOrToldInBytes) {
  EXPECT_EQ(card_from("rtx-4090")->name, "RTX 4090");
  EXPECT_EQ(card_from("h200")->bytes, 143'771 * base::kMiB);
  EXPECT_EQ(card_from("24GiB")->bytes, 24 * kGiB);
  for (const char* wrong : {"", "0", "lots", "RTX 40900", "-1GiB"}) {
    const auto card = card_from(wrong);
    ASSERT_FALSE(card) << wrong;
    EXPECT_EQ(card.error().code, base::Code::bad_input);
    EXPECT_NE(card.error().message.find("--card"), std::string::npos) << card.error().message;
  }
}

TEST(ClientTable, IsWrittenAsJson) {
  ClientTableOptions options;
  options.models = {"LightCNN"};
  options.cards = {"T4", "8GiB"};
  const base::Json json = to_json(*client_table(options));
  const base::Json& model = json.find("models")->as_array()->front();
  EXPECT_EQ(*model.find("name")->as_string(), "LightCNN");
  ASSERT_EQ(model.find("clients")->as_array()->size(), 2U);
  EXPECT_EQ(*model.find("clients")->as_array()->back().find("card")->as_string(), "8GiB");
}

TEST(ClientTable, RefusesWhatItDoesNotKnow) {
  ClientTableOptions options;
  options.models = {"LightCN"};
  EXPECT_NE(client_table(options).error().message.find("LightCNN"), std::string::npos);
  options.models = {};
  options.size = 0;
  EXPECT_FALSE(client_table(options));
}

}  // namespace
}  // namespace ebb::plan
