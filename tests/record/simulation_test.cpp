// SPDX-License-Identifier: Apache-2.0
// What simulations came to, round by round.
#include "record/runs.h"
#include "support/temporary_directory.h"

namespace ebb::record {
namespace {

class RecordedSimulations : public testing::Test {
 protected:
  /// A run that simulates so many rounds, each with so many bytes.
  std::int64_t simulated(std::uint64_t rounds, std::size_t bytes, const std::string& sweep = "a") {
    auto file = RunFile::begin(path(), run_named("simulated"));
    EXPECT_TRUE(file) << file.error().message;
    Batch batch;
    batch.simulations.push_back({sweep, 1, 6, R"({"config":{}})"});
    for (std::uint64_t i = 0; i < rounds; ++i)
      batch.simulated.push_back({i, std::string(bytes, 'x')});
    EXPECT_TRUE(file->write(batch));
    EXPECT_TRUE(file->finish(ended(run_named("simulated"))));
    return file->run_id();
  }

  Store store() const {
    auto opened = Store::open(path());
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }

  std::string path() const { return folder_ / "runs.db"; }

  support::TemporaryDirectory folder_;
};

TEST_F(RecordedSimulations, AreReadAsTheyWereWritten) {
  const std::int64_t run = simulated(3, 10);
  const auto found = store().simulation(run);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->summary.run.id, run);
  EXPECT_EQ(found->summary.sweep, "a");
  EXPECT_EQ(found->simulation.sweep, "a");
  EXPECT_EQ(found->simulation.part, 1U);
  EXPECT_EQ(found->simulation.parts, 6U);
  EXPECT_EQ(found->simulation.about, R"({"config":{}})");
  ASSERT_EQ(found->rounds.size(), 3U);
  EXPECT_EQ(found->rounds[2].number, 2U);
  EXPECT_EQ(found->rounds[2].json, "xxxxxxxxxx");
}

TEST_F(RecordedSimulations, AreThereWhileTheyGoOn) {
  auto writer = Writer::begin(path(), run_named("goes on"));
  ASSERT_TRUE(writer) << writer.error().message;
  (*writer)->add(Simulation{"b", 0, 1, "{}"});
  (*writer)->add(SimulatedRound{0, "first"});
  const std::int64_t run = (*writer)->run_id();
  for (;;) {  // a second at the latest
    const auto found = store().simulation(run);
    if (found && found->rounds.size() == 1) break;
  }
  (*writer)->end(ended(run_named("goes on")));
}

TEST_F(RecordedSimulations, OtherRunsHaveNone) {
  auto file = RunFile::begin(path(), run_named("job"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->finish(ended(run_named("job"))));
  const auto found = store().simulation(file->run_id());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::not_found);
  EXPECT_EQ(store().runs()->front().sweep, "");
}

TEST_F(RecordedSimulations, GoWithTheirRun) {
  const std::int64_t run = simulated(3, 10);
  ASSERT_TRUE(store().remove({run}));
  auto database = Database::open(path(), Database::Mode::write, 1000);
  ASSERT_TRUE(database);
  EXPECT_EQ(database->number("SELECT count(*) FROM simulations"), 0);
  EXPECT_EQ(database->number("SELECT count(*) FROM simulated_rounds"), 0);
}

TEST_F(RecordedSimulations, OfALongOneEverySecondRoundStaysAndTheLast) {
  const std::int64_t run = simulated(1001, 3000);
  const auto found = store().simulation(run);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->rounds.size(), 501U);
  EXPECT_EQ(found->rounds[1].number, 2U);
  EXPECT_EQ(found->rounds.back().number, 1000U);
  std::uint64_t bytes = 0;
  for (const SimulatedRound& round : found->rounds)
    bytes += round.json.size();
  EXPECT_LE(bytes, static_cast<std::uint64_t>(kRunning.simulated_bytes));
}

}  // namespace
}  // namespace ebb::record
