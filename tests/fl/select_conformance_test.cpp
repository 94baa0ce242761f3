// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <set>

#include "fl/select/selector.h"
#include "fl/select_world.h"

namespace ebb::fl {
namespace {

constexpr std::string_view kWrapped = "wrapper.quota_safety:heuristic.topk_loss";

std::vector<std::string> every_key() {
  std::vector<std::string> keys = {std::string(kWrapped)};
  for (const Method& method : methods())
    keys.emplace_back(method.key);
  return keys;
}

class EverySelector : public testing::TestWithParam<std::string> {};

std::string test_name(const testing::TestParamInfo<std::string>& key) {
  std::string name = key.param;
  std::replace(name.begin(), name.end(), '.', '_');
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Methods, EverySelector, testing::ValuesIn(every_key()), test_name);

TEST_P(EverySelector, ChoosesAsManyDifferentClientsAsAsked) {
  struct Size {
    std::uint32_t clients;
    std::uint32_t count;
  };
  for (const Size size :
       {Size{1, 1}, Size{2, 1}, Size{7, 7}, Size{30, 29}, Size{50, 1}, Size{60, 6}, Size{20, 0}}) {
    const auto selector = make_selector(GetParam());
    FakeFederation world(size.clients);
    for (int round = 0; round < 30; ++round) {
      const Cohort cohort = world.round(*selector, size.count);
      ASSERT_EQ(cohort.size(), size.count) << size.clients << " clients, round " << round;
      ASSERT_EQ(std::set<std::uint32_t>(cohort.begin(), cohort.end()).size(), size.count);
      for (const std::uint32_t id : cohort)
        ASSERT_LT(id, size.clients);
    }
  }
}

TEST_P(EverySelector, GivesTheSameAnswersToTheSameCalls) {
  const auto run = [](std::uint64_t seed) {
    const auto selector = make_selector(GetParam());
    return FakeFederation(40, seed).rounds(*selector, 5, 40);
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_EQ(run(1) == run(2), GetParam() == "heuristic.round_robin");
}

TEST_P(EverySelector, AsksForSketchesIfItLooksAtThem) {
  const auto run = [](std::uint32_t groups) {
    const auto selector = make_selector(GetParam());
    FakeFederation world(40);
    world.sketch_group = [=](std::uint32_t id) { return id % groups; };
    return world.rounds(*selector, 5, 40);
  };
  EXPECT_EQ(run(4) != run(9), make_selector(GetParam())->needs_sketches());
}

TEST_P(EverySelector, AsksForLabelsIfItLooksAtThem) {
  const auto run = [](bool with_labels) {
    const auto selector = make_selector(GetParam());
    FakeFederation world(40);
    for (Client& client : world.clients)
      if (!with_labels) client.labels.clear();
    return world.rounds(*selector, 5, 40);
  };
  EXPECT_EQ(run(true) != run(false), make_selector(GetParam())->needs_labels());
}

/// Twelve rounds by a selector that starts from `state`, after it was told of `open_round`.
std::vector<Cohort> go_on(const std::string& key, const std::string& state, FakeFederation world,
                          const std::optional<Cohort>& open_round) {
  const auto selector = make_selector(key);
  const auto status = selector->restore(*base::parse_json(state));
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  EXPECT_EQ(selector->state().text(), state);
  if (open_round) world.finish(*selector, *open_round);
  return world.rounds(*selector, 4, 12);
}

TEST_P(EverySelector, GoesOnFromItsSavedStateAsIfItHadNeverStopped) {
  const auto selector = make_selector(GetParam());
  FakeFederation world(40);
  std::vector<Cohort> cohorts;
  std::vector<std::pair<std::ptrdiff_t, std::vector<Cohort>>> resumed;
  for (std::ptrdiff_t round = 0; round < 50; ++round) {
    const bool stops = std::set<std::ptrdiff_t>{0, 1, 2, 14, 15, 16, 24, 37}.count(round) > 0;
    if (stops) resumed.emplace_back(round, go_on(GetParam(), selector->state().text(), world, {}));
    cohorts.push_back(world.choose(*selector, 4));
    if (stops)
      resumed.emplace_back(round + 1,
                           go_on(GetParam(), selector->state().text(), world, cohorts.back()));
    world.finish(*selector, cohorts.back());
  }
  for (const auto& [from, later] : resumed)
    EXPECT_EQ(later, std::vector<Cohort>(cohorts.begin() + from, cohorts.begin() + from + 12))
        << "from round " << from;
}

TEST_P(EverySelector, RefusesDamagedStateAndStaysAsItWas) {
  const auto selector = make_selector(GetParam());
  FakeFederation world(40);
  world.rounds(*selector, 4, 20);
  const base::Json state = selector->state();

  std::vector<base::Json> damaged = {nullptr, 7, "state", base::Json::array()};
  damaged.push_back(state);
  damaged.back().set("unexpected", 1);
  for (const auto& [key, value] : *state.as_object()) {
    for (const base::Json& nonsense :
         {base::Json(), base::Json("nonsense"), base::Json(-0.5), base::Json::array({"nonsense"}),
          base::Json::array({base::Json::array({-1})})}) {
      damaged.push_back(state);
      damaged.back().set(key, nonsense);
    }
    base::Json::Object others;
    for (const auto& member : *state.as_object())
      if (member.first != key) others.push_back(member);
    damaged.emplace_back(others);
  }
  for (const base::Json& json : damaged) {
    const auto status = selector->restore(json);
    ASSERT_FALSE(status.has_value()) << json.text();
    EXPECT_EQ(status.error().code, base::Code::bad_input);
    EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
    EXPECT_NE(status.error().message.find("state"), std::string::npos) << status.error().message;
  }
  EXPECT_EQ(selector->state().text(), state.text());
}

std::size_t reached(const std::vector<Cohort>& cohorts) {
  std::set<std::uint32_t> clients;
  for (const Cohort& cohort : cohorts)
    clients.insert(cohort.begin(), cohort.end());
  return clients.size();
}

TEST_P(EverySelector, DoesNotLockIntoACohort) {
  const auto selector = make_selector(GetParam());
  FakeFederation world(100);
  const std::vector<Cohort> cohorts = world.rounds(*selector, 10, 100);
  // FedCS is meant to leave the slow behind: those who are never among the fastest third asked.
  EXPECT_GE(reached(cohorts), GetParam() == "system_aware.fedcs" ? 40U : 60U);
  EXPECT_GE(reached({cohorts.end() - 20, cohorts.end()}), 20U);
}

TEST_P(EverySelector, DoesNotLockIntoItsFirstCohortsEvenWhereTrainingNeverHelps) {
  const auto selector = make_selector(GetParam());
  FakeFederation world(100);
  world.loss = [](const FakeFederation&, std::uint32_t id) { return 0.5 + (id * 37 % 100) / 50.0; };
  const std::size_t clients = reached(world.rounds(*selector, 10, 100));
  // Power-of-Choice knows present losses without choosing: here, whom it need not come back to.
  const bool knows = GetParam() == "system_aware.poc";
  EXPECT_GE(clients, knows ? 25U : GetParam() == "system_aware.fedcs" ? 40U : 60U);
}

TEST_P(EverySelector, DoesNotFillItsCohortsWithThoseWhoNeverAnswer) {
  const auto selector = make_selector(GetParam());
  FakeFederation world(100);
  world.answers = [](std::uint32_t id) { return id % 5 >= 2; };
  const std::vector<Cohort> cohorts = world.rounds(*selector, 10, 100);
  const std::vector<Cohort> last(cohorts.end() - 50, cohorts.end());
  // Random selection gets answers from 60 %.
  EXPECT_GT(mean_of(last, world.answers), 0.45);
}

TEST_P(EverySelector, ChoosesAWholeCohortWhereNobodyAnswers) {
  const auto selector = make_selector(GetParam());
  FakeFederation world(20);
  world.answers = [](std::uint32_t) { return false; };
  for (const Cohort& cohort : world.rounds(*selector, 18, 30))
    EXPECT_EQ(std::set<std::uint32_t>(cohort.begin(), cohort.end()).size(), 18U);
}

TEST_P(EverySelector, CopesWithDivergedTrainingAndStrangeClients) {
  FakeFederation world(40);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> strange = {std::nan(""), kInfinity, -kInfinity, 1e300, 0};
  world.loss = [&](const FakeFederation&, std::uint32_t id) { return strange[id % 5]; };
  world.norm = [&](const FakeFederation&, std::uint32_t id) { return strange[(id + 1) % 5]; };
  for (std::uint32_t id = 0; id < 40; id += 3) {
    world.clients[id].samples = 0;
    world.clients[id].labels.clear();
    world.clients[id].seconds = strange[id % 5];
    world.clients[id].speed = 0;
    world.clients[id].tier = 9;
  }
  const auto selector = make_selector(GetParam());
  for (int round = 0; round < 40; ++round) {
    Cohort cohort = world.round(*selector, 6);
    for (const std::uint32_t id : cohort)
      world.clients[id].sketch[id % 7] = static_cast<float>(strange[id % 4]);
    ASSERT_EQ(std::set<std::uint32_t>(cohort.begin(), cohort.end()).size(), 6U);
  }
  const auto again = make_selector(GetParam());
  EXPECT_TRUE(again->restore(*base::parse_json(selector->state().text())).has_value());
}

TEST(SelectionMethods, AreSortedAndSayWhatTheyAre) {
  EXPECT_TRUE(std::is_sorted(methods().begin(), methods().end(),
                             [](const Method& a, const Method& b) { return a.key < b.key; }));
  std::set<std::string_view> keys;
  for (const Method& method : methods()) {
    EXPECT_TRUE(keys.insert(method.key).second) << method.key;
    EXPECT_FALSE(method.title.empty() || method.summary.empty()) << method.key;
    for (const Parameter& parameter : method.parameters) {
      EXPECT_LE(parameter.least, parameter.standard) << method.key << " " << parameter.name;
      EXPECT_LE(parameter.standard, parameter.most) << method.key << " " << parameter.name;
      EXPECT_FALSE(parameter.meaning.empty());
    }
  }
  EXPECT_EQ(keys.size(), 20U);
}

TEST(SelectionMethods, AreCreatedAtTheEndsOfTheirParameters) {
  for (const Method& method : methods()) {
    for (const Parameter& parameter : method.parameters) {
      for (const double value : {parameter.least, parameter.most}) {
        const auto selector = make_selector(method.key, {{std::string(parameter.name), value}});
        FakeFederation world(20);
        for (const Cohort& cohort : world.rounds(*selector, 4, 25))
          EXPECT_EQ(cohort.size(), 4U) << method.key << " " << parameter.name << " " << value;
      }
    }
  }
}

std::string refusal(std::string_view key, const ParameterValues& parameters = {}) {
  const auto selector = create_selector(key, parameters);
  if (selector) return "created";
  EXPECT_EQ(selector.error().code, base::Code::bad_input);
  return selector.error().message;
}

TEST(SelectionMethods, AreRefusedUnderWrongNamesAndNumbers) {
  EXPECT_EQ(refusal("heuristic.randon"),
            "unknown selection method 'heuristic.randon' (did you mean heuristic.random?)");
  EXPECT_EQ(refusal("system_aware.oort", {{"penalti", 1}}),
            "system_aware.oort has no parameter 'penalti' (did you mean penalty?)");
  EXPECT_EQ(refusal("system_aware.poc", {{"pool", 0.5}}),
            "pool of system_aware.poc is 0.5, expected 1 to 1000");
  EXPECT_NE(refusal("system_aware.poc", {{"pool", std::nan("")}}), "created");
}

TEST(SelectionMethods, CanBeWrappedOnce) {
  EXPECT_EQ(refusal("wrapper.quota_safety:system_aware.poc", {{"pool", 2}, {"quota", 2}}),
            "created");
  EXPECT_EQ(refusal("wrapper.quota_safety:system_aware.poc", {{"pools", 2}}),
            "system_aware.poc has no parameter 'pools' (did you mean pool?)");
  for (const std::string_view key :
       {"heuristic.random:heuristic.random", "wrapper.quota_safety:wrapper.quota_safety",
        "wrapper.quota_safety:", "wrapper.quota_safety:nothing", ":",
        "wrapper.quota_safety:wrapper.quota_safety:heuristic.random"})
    EXPECT_NE(refusal(key), "created") << key;
}

TEST(SelectionMethods, RefuseStateOfOtherClientsOrAnotherBase) {
  for (const std::string_view key : {"ml.bandit.epsilon_greedy", "ml.fedcor"}) {
    const auto selector = make_selector(key);
    FakeFederation(20).rounds(*selector, 4, 3);
    Random random(1, Purpose::selection);
    const FakeFederation larger(30);
    const Choice::Probe probe;
    EXPECT_FALSE(selector->select({3, 4, larger.clients, {}, random, probe}).has_value()) << key;
  }
  const auto state = make_selector("wrapper.quota_safety")->state();
  EXPECT_FALSE(make_selector(kWrapped)->restore(state).has_value());
}

}  // namespace
}  // namespace ebb::fl
