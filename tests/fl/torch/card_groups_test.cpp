// SPDX-License-Identifier: Apache-2.0
// How many clients a card trains at a time is part of its arithmetic: kept, and the same on all
// ranks.
#include "base/file.h"
#include "base/sha256.h"
#include "fl/checkpoint.h"
#include "fl/meeting_ranks.h"
#include "fl/torch/full_card.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

/// A simulation on a card in two parts.
class ResumedOnACard : public FullCard {
 protected:
  ResumedOnACard() {
    config_.rounds = 5;
    execution_ = on_threads(1);
    execution_.folder = directory_ / "run";
  }

  using Prepare = std::function<void(FullNowAndThen&)>;
  /// Stops after `rounds`; 0: at the end.
  base::Result<SimulationResult> part(std::uint32_t rounds, const Prepare& prepare) {
    Listener listener(*this, rounds > 0 ? rounds : 1000);
    auto result = run_with(prepare, execution_, listener);
    EXPECT_TRUE(result) << result.error().message;
    execution_.resume = true;
    return result;
  }
  /// Writes the checkpoint anew, as `change` has it.
  void rewrite(const std::function<void(base::Json&)>& change, std::string_view format) {
    const std::string path = execution_.folder + "/checkpoint";
    const std::string bytes = *base::read_file(path, kMostCheckpointBytes);
    Checkpoint checkpoint = *unpack_checkpoint(bytes, path);
    change(checkpoint.header);
    std::vector<std::span<const std::byte>> arrays(checkpoint.arrays.begin(),
                                                   checkpoint.arrays.end());
    std::string packed = pack_checkpoint(checkpoint.header, arrays);
    packed.replace(0, format.size(), format);
    packed.resize(packed.size() - 32);
    base::Sha256 hash;
    hash.add(packed.data(), packed.size());
    const base::Sha256::Digest digest = hash.finish();
    packed.append(digest.begin(), digest.end());
    ASSERT_TRUE(base::write_file_atomically(path, packed));
  }

  const support::TemporaryDirectory directory_;
  Execution execution_;
};

TEST_F(ResumedOnACard, GoesOnWithTheGroupsThatItHad) {
  config_.method = "system_aware.poc";  // evaluates clients to choose among them
  const auto tight = [](FullNowAndThen& trainer) {
    trainer.most = 2;
    trainer.most_evaluated = 100;
  };
  const SimulationResult whole = *run_with(tight);
  ASSERT_EQ(whole.card->clients, 2U);
  ASSERT_EQ(whole.card->pictures, 64U);
  ASSERT_TRUE(part(3, tight));
  lines_.clear();
  // Now there would be room for more.
  const auto resumed = part(0, [](FullNowAndThen&) {});
  EXPECT_EQ(resumed->model_sha256, whole.model_sha256);
  EXPECT_EQ(resumed->card->clients, 2U);
  EXPECT_EQ(resumed->card->pictures, 64U);
  EXPECT_EQ(resumed->card->rounding_from, whole.card->rounding_from);
  EXPECT_EQ(resumed->plan.parallel_clients, 2U);
  EXPECT_EQ(resumed->rounds.back().memory.parallel_clients, 2U);
  EXPECT_EQ(resumed->rounds.back().memory.evaluated_together, 64U);
  EXPECT_EQ(groups_, std::vector<std::size_t>(4, 2));
  EXPECT_EQ(lines_, "");
}

TEST_F(ResumedOnACard, HalvesGroupsThatNoLongerFitAndSaysSo) {
  ASSERT_TRUE(part(2, [](FullNowAndThen&) {}));
  room_ = 3;
  const auto resumed = part(0, [](FullNowAndThen&) {});
  EXPECT_EQ(resumed->card->clients, 2U);
  EXPECT_EQ(resumed->card->rounding_from, 2U);
  EXPECT_EQ(groups_, std::vector<std::size_t>(6, 2));
  EXPECT_EQ(waited_, 0) << "nothing is tried that cannot fit";
  EXPECT_NE(lines_.find("round 2: the card has no room for the 4 clients at a time of the "
                        "checkpoint: 2 from now on"),
            std::string::npos)
      << lines_;
}

TEST_F(ResumedOnACard, OfAnEarlierEbbSaysThatItsGroupsAreNotKnown) {
  ASSERT_TRUE(part(2, [](FullNowAndThen&) {}));
  rewrite(
      [](base::Json& header) {
        base::Json without = base::Json::object();
        for (const auto& [key, value] : *header.as_object())
          if (key != "card") without.set(key, value);
        header = without;
      },
      "ebb simulation 1\n");
  const auto resumed = part(0, [](FullNowAndThen&) {});
  EXPECT_EQ(resumed->card->clients, 4U);
  EXPECT_EQ(resumed->card->rounding_from, 2U);
  EXPECT_NE(lines_.find("earlier Ebb does not say how many clients trained at a time"),
            std::string::npos)
      << lines_;
}

TEST_F(ResumedOnACard, RefusesGroupsThatAreNone) {
  ASSERT_TRUE(part(2, [](FullNowAndThen&) {}));
  for (const char* groups : {"null", "[]", R"({"clients": 0, "pictures": 1})",
                             R"({"clients": 5, "pictures": 1, "rounding_from_round": null})",
                             R"({"clients": 4, "pictures": 1, "rounding_from_round": -1})"}) {
    rewrite([&](base::Json& header) { header.set("card", *base::parse_json(groups)); },
            "ebb simulation 2\n");
    Listener listener(*this);
    const auto refused = run_with([](FullNowAndThen&) {}, execution_, listener);
    ASSERT_FALSE(refused) << groups;
    EXPECT_EQ(refused.error().code, base::Code::bad_input);
    EXPECT_NE(refused.error().message.find("expected groups"), std::string::npos) << groups;
  }
}

class RanksWithCards : public FullCard {
 protected:
  /// What each of `count` ranks comes to; `prepare` is called for each.
  std::vector<SimulationResult> run_on(
      std::uint32_t count, const std::function<void(std::uint32_t, FullNowAndThen&)>& prepare) {
    std::vector<SimulationResult> results(count);
    std::vector<std::vector<std::size_t>> groups(count);
    on_meeting_ranks(count, [&](Ranks& ranks) {
      base::ReclaimerRegistry reclaimers;
      keep::Cleaner cleaner(heap::host_allocator(), reclaimers, [] { return std::uint64_t{0}; });
      auto resources = load_resources(config_, on_threads(1), cleaner, lent(ranks));
      auto trainer = std::make_unique<FullNowAndThen>(std::move(resources->trainer));
      prepare(ranks.rank(), *trainer);
      auto& of_mine = *trainer;
      resources->trainer = std::move(trainer);
      resources->card = std::make_unique<FakeCard>();
      Observer nobody;
      auto result = simulate(config_, on_threads(1), *resources, nobody);
      ASSERT_TRUE(result) << result.error().message;
      results[ranks.rank()] = std::move(*result);
      groups[ranks.rank()] = of_mine.groups;
    });
    for (const auto& of_one : groups)
      groups_.insert(groups_.end(), of_one.begin(), of_one.end());
    return results;
  }
};

TEST_F(RanksWithCards, TrainGroupsOfOneSizeToTheSameBits) {
  config_.per_round = 8;
  const std::string sha = undisturbed().model_sha256;
  groups_.clear();
  const auto results = run_on(3, [](std::uint32_t, FullNowAndThen&) {});
  EXPECT_EQ(groups_, std::vector<std::size_t>(groups_.size(), 4));
  for (const SimulationResult& result : results)
    EXPECT_EQ(result.model_sha256, sha);
}

TEST_F(RanksWithCards, TellEachOtherControlVariatesToTheSameBits) {
  config_.per_round = 8;
  config_.aggregation.rule = Rule::scaffold;
  const std::string sha = undisturbed().model_sha256;
  for (const SimulationResult& result : run_on(3, [](std::uint32_t, FullNowAndThen&) {}))
    EXPECT_EQ(result.model_sha256, sha);
}

TEST_F(RanksWithCards, GoOnTogetherWithWhatTheOneHasRoomFor) {
  config_.per_round = 8;
  const auto results = run_on(2, [](std::uint32_t rank, FullNowAndThen& trainer) {
    if (rank == 1) trainer.most = 2;
  });
  EXPECT_EQ(results[0].model_sha256, results[1].model_sha256);
  for (const SimulationResult& result : results) {
    EXPECT_EQ(result.card->clients, 2U);
    EXPECT_EQ(result.card->rounding_from, 1U);
    EXPECT_EQ(result.rounds[0].memory.parallel_clients, 4U);
    EXPECT_EQ(result.rounds[1].memory.parallel_clients, 2U);
  }
}

}  // namespace
}  // namespace ebb::fl
