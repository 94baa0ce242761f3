// SPDX-License-Identifier: Apache-2.0
#include "fl/data/population.h"

namespace ebb::fl {
namespace {

class PopulationTest : public testing::Test {
 protected:
  PopulationTest() {
    data_.classes = 2;
    data_.train.labels = {0, 1, 1, 0, 1};
    partition_.indices = {0, 1, 2, 3, 4};
    partition_.offsets = {0, 3, 5};
  }

  Population population() const { return {Holdings(partition_), data_, true}; }

  DataSet data_;
  Partition partition_;
};

TEST_F(PopulationTest, KnowsHowManySamplesOfEachClassAClientHas) {
  const Population all = population();
  ASSERT_EQ(all.clients().size(), 2U);
  EXPECT_EQ(all.clients()[0].samples, 3U);
  EXPECT_EQ(all.clients()[0].labels, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(all.clients()[1].labels, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_FALSE(all.clients()[0].loss);
}

TEST_F(PopulationTest, HasLabelsOnlyForThoseWhoLookAtThem) {
  const Population all(Holdings(partition_), data_, false);
  EXPECT_EQ(all.clients()[0].samples, 3U);
  EXPECT_TRUE(all.clients()[0].labels.empty());
}

TEST_F(PopulationTest, CountsThoseWhoDoNotAnswerUntilTheyDo) {
  Population all = population();
  const std::vector<std::uint32_t> cohort = {0, 1};
  all.choose(cohort);
  all.choose(cohort);
  all.learn({1, 1, 0.5, 0.7, 0.1, {}});
  EXPECT_EQ(all.clients()[0].unanswered, 2U);
  EXPECT_EQ(all.clients()[1].unanswered, 0U);
  EXPECT_EQ(all.clients()[1].participations, 1U);
}

TEST_F(PopulationTest, ComesBackFromItsStateAsItWas) {
  Population all = population();
  const std::vector<std::uint32_t> cohort = {0, 1};
  all.choose(cohort);
  all.learn({1, 3, 0.1, 0.30000000000000004, 1.0 / 3, {0.1F, -2.5F}});
  const auto text = base::parse_json(all.state().text());
  ASSERT_TRUE(text);
  Population again = population();
  ASSERT_TRUE(again.restore(*text));
  EXPECT_EQ(again.state().text(), all.state().text());
  EXPECT_EQ(again.clients()[1].loss_rms, all.clients()[1].loss_rms);
  EXPECT_EQ(again.clients()[1].sketch, all.clients()[1].sketch);
  EXPECT_EQ(again.clients()[0].unanswered, 1U);
}

TEST_F(PopulationTest, ComesBackFromItsChangesOneAfterTheOther) {
  Population all = population();
  all.follow_changes();
  EXPECT_EQ(all.changes(), "");
  const std::vector<std::uint32_t> cohort = {0, 1};
  all.choose(cohort);
  all.learn({1, 3, 0.1, 0.30000000000000004, 1.0 / 3, {0.1F, -2.5F}});
  const std::string first = all.changes();
  EXPECT_EQ(all.changes(), "") << "nothing since";
  all.choose(std::vector<std::uint32_t>{0});
  const std::string second = all.changes();
  EXPECT_LT(second.size(), first.size()) << "of one client alone";
  Population again = population();
  ASSERT_TRUE(again.take(first + second));
  EXPECT_EQ(again.state().text(), all.state().text());
  EXPECT_EQ(again.clients()[0].unanswered, 2U);
}

TEST_F(PopulationTest, HasAllThatIsKnownForItsFirstChanges) {
  Population all = population();
  all.learn({1, 3, 0.1, 0.2, 0.3, {}});
  all.follow_changes();
  Population again = population();
  ASSERT_TRUE(again.take(all.changes()));
  EXPECT_EQ(again.state().text(), all.state().text());
}

TEST_F(PopulationTest, RemembersNoChangesUnlessTheyAreFollowed) {
  Population all = population();
  all.learn({1, 3, 0.1, 0.2, 0.3, {}});
  EXPECT_EQ(all.changes(), "");
}

TEST_F(PopulationTest, RefusesRecordsThatAreNone) {
  Population all = population();
  all.follow_changes();
  all.learn({1, 3, 0.1, 0.2, 0.3, {1, 2}});
  const std::string record = all.changes();
  for (std::size_t length = 1; length < record.size(); ++length)
    EXPECT_FALSE(population().take(record.substr(0, length))) << length;
  std::string of_nobody = record;
  of_nobody[0] = 2;
  EXPECT_FALSE(population().take(of_nobody));
}

TEST_F(PopulationTest, RefusesStatesThatAreNot) {
  for (const char* text :
       {"[]", "{}", "{\"seen\": [], \"unanswered\": [0]}",
        "{\"seen\": [{}], \"unanswered\": [0, 0]}", "{\"seen\": [], \"unanswered\": [0, -1]}"}) {
    Population all = population();
    EXPECT_FALSE(all.restore(*base::parse_json(text))) << text;
  }
}

}  // namespace
}  // namespace ebb::fl
