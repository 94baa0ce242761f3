// SPDX-License-Identifier: Apache-2.0
#include "fl/data/client_records.h"

namespace ebb::fl {
namespace {

TEST(ClientRecords, BringBackWhatWasLearnedToTheBit) {
  std::vector<Client> clients(3);
  clients[2].unanswered = 4;
  clients[2].participations = 7;
  clients[2].last_round = 0;
  clients[2].loss = 0.30000000000000004;
  clients[2].loss_rms = 1.0 / 3;
  clients[2].gradient_norm = 5e-324;
  clients[2].sketch = {0.1F, -2.5F};
  clients[0].unanswered = 1;
  std::string records;
  append_record(records, 2, clients[2]);
  EXPECT_EQ(records.size(), 44U + 8);
  append_record(records, 0, clients[0]);
  std::vector<Client> again(3);
  std::string_view left = records;
  ASSERT_TRUE(take_record(left, again));
  ASSERT_TRUE(take_record(left, again));
  EXPECT_FALSE(take_record(left, again)) << "that was all";
  EXPECT_EQ(again[2].unanswered, 4U);
  EXPECT_EQ(again[2].participations, 7U);
  EXPECT_EQ(again[2].last_round, 0U);
  EXPECT_EQ(again[2].loss, clients[2].loss);
  EXPECT_EQ(again[2].loss_rms, clients[2].loss_rms);
  EXPECT_EQ(again[2].gradient_norm, clients[2].gradient_norm);
  EXPECT_EQ(again[2].sketch, clients[2].sketch);
  EXPECT_EQ(again[0].unanswered, 1U);
  EXPECT_FALSE(again[0].loss) << "it never answered";
}

TEST(ClientRecords, NeedNoMoreThanTheirBytes) {
  std::vector<Client> clients(1);
  clients[0].participations = 1;
  std::string records;
  append_record(records, 0, clients[0]);
  // A sketch longer than any, of which nothing follows.
  records.replace(40, 4, "\xff\xff\xff\xff");
  std::string_view left = records;
  EXPECT_FALSE(take_record(left, clients));
  EXPECT_EQ(left.size(), records.size());
}

}  // namespace
}  // namespace ebb::fl
