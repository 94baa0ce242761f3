// SPDX-License-Identifier: Apache-2.0
#include "fl/config.h"

#include <cmath>

#include "fl/memory_plan.h"

namespace ebb::fl {
namespace {

/// No field as it is by default.
Config unusual() {
  Config config;
  config.dataset = "synthetic";
  config.synthetic = {{3, 32, 24}, 7, 1000, 100, 9};
  config.model = "my.json";
  config.network = R"({"layers":[]})";
  config.partition = {PartitionKind::shards, 0.1, 3, 70, SizeSkew::power_law, 0.7, 2.5};
  config.clients = 1000;
  config.per_round = 50;
  config.rounds = 200;
  config.epochs = 5;
  config.batch = 64;
  config.lr = 0.1 + 0.2;
  config.seed = 0xFEDCBA9876543210;
  config.synthetic.seed = config.seed;
  config.eval_every = 10;
  config.eval_clients_every = 7;
  config.method = "system_aware.oort";
  config.method_parameters = {{"epsilon", 0.9}, {"alpha", 2}};
  config.candidates = 77;
  config.workflow = Workflow::swarm;
  config.local_steps = 7;
  config.schedule = {ScheduleKind::step, 3, 20, 0.5, 40, 1e-4};
  config.aggregation = {Rule::fedyogi, Weighting::none, 0.02, 0.01, 0.8, 0.999, 1e-4, 0.2};
  config.world = {0.1, 2.5, 3, 0.5};
  config.privacy = {1.5, 0.7, 1e-6, Sampling::poisson, 0.5, 0.3, 4.0};
  config.backend = "native";
  return config;
}

std::string error_of(std::string_view text) {
  const auto json = base::parse_json(text);
  EXPECT_TRUE(json);
  const auto config = config_from(*json);
  if (config) return "none";
  EXPECT_EQ(config.error().code, base::Code::bad_input);
  return config.error().message;
}

TEST(Configuration, PoissonSamplingIsRefusedWhereItHasNoPlace) {
  const auto message = [](auto&& change) {
    Config config;
    config.privacy.clip = 1;
    config.privacy.sampling = Sampling::poisson;
    EXPECT_TRUE(check(config)) << check(config).error().message;
    change(config);
    const auto checked = check(config);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message([](Config& c) { c.privacy.clip = 0; }),
            "dp_sampling poisson without dp_clip, expected a norm to cut updates to");
  EXPECT_EQ(message([](Config& c) { c.method = "system_aware.oort"; }),
            "dp_sampling poisson with method system_aware.oort, expected heuristic.random: each "
            "client is drawn by itself");
  EXPECT_EQ(
      message([](Config& c) { c.workflow = Workflow::swarm; }),
      "dp_sampling poisson with workflow swarm, expected server: a round may have no clients");
  EXPECT_EQ(error_of(R"({"dp_sampling": "poison"})").find("dp_sampling") != std::string::npos,
            true);
}

TEST(Configuration, EveryFieldComesBackFromJson) {
  const base::Json standard = to_json(Config{});
  const base::Json written = to_json(unusual());
  for (const auto& [key, value] : *written.as_object())
    EXPECT_NE(value.text(), standard.find(key)->text()) << key;
  const auto parsed = base::parse_json(written.text(true));
  ASSERT_TRUE(parsed);
  const auto read = config_from(*parsed);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read).text(), written.text());
  EXPECT_EQ(read->synthetic.picture.width, 24U);
  EXPECT_EQ(read->synthetic.seed, read->seed);
  EXPECT_EQ(read->lr, 0.1 + 0.2);
  EXPECT_EQ(read->seed, 0xFEDCBA9876543210);
  EXPECT_EQ(read->method_parameters, unusual().method_parameters);
  EXPECT_EQ(read->world.deadline, 2.5);
  // Of settings that exclude each other, one.
  Config sound = *read;
  sound.local_steps.reset();
  sound.schedule.t_max.reset();
  sound.privacy.sampling = Sampling::fixed;
  EXPECT_TRUE(check(sound)) << check(sound).error().message;
}

TEST(Configuration, WhatJsonDoesNotSayStaysAsItWas) {
  const auto json = base::parse_json(R"({"clients": 7, "deadline": null})");
  const auto read = config_from(*json, unusual());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->clients, 7U);
  EXPECT_FALSE(read->world.deadline);
  EXPECT_EQ(read->rounds, 200U);
}

TEST(Configuration, AnUnknownKeyGetsTheNearest) {
  EXPECT_EQ(error_of(R"({"per_rond": 5})"), "option 'per_rond': did you mean 'per_round'?");
  EXPECT_EQ(error_of(R"({"aggregation": "fedagv"})"),
            "aggregation 'fedagv': did you mean 'fedavg'?");
  EXPECT_EQ(error_of(R"({"workflow": "serve"})"), "workflow 'serve': did you mean 'server'?");
}

TEST(Configuration, AValueOfTheWrongKindIsRefused) {
  EXPECT_EQ(error_of(R"({"clients": "ten"})"),
            "clients: \"ten\", expected a whole number from 0 to 4294967295");
  EXPECT_EQ(error_of(R"({"clients": 4294967296})"),
            "clients: 4294967296, expected a whole number from 0 to 4294967295");
  EXPECT_EQ(error_of(R"({"clients": 1.5})"),
            "clients: 1.5, expected a whole number from 0 to 4294967295");
  EXPECT_EQ(error_of(R"({"seed": -1})"),
            "seed: -1, expected a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(error_of(R"({"lr": null})"), "lr: null, expected a number");
  EXPECT_EQ(error_of(R"({"deadline": true})"), "deadline: true, expected a number or null");
  EXPECT_EQ(error_of(R"({"model": 3})"), "model: 3, expected a text");
  EXPECT_EQ(error_of(R"({"partition": 3})"), "partition: 3, expected a name");
  EXPECT_EQ(error_of(R"({"method_parameters": [1]})"),
            "method_parameters: [1], expected an object of numbers");
  EXPECT_EQ(error_of(R"({"method_parameters": {"a": "b"}})"),
            "method_parameters.a: \"b\", expected a number");
  EXPECT_EQ(error_of("[]"), "configuration: [], expected an object");
}

TEST(Configuration, OptionsOutOfTheirRangeAreNamed) {
  const auto refusal = [](auto change) {
    Config config;
    change(config);
    const base::Status status = check(config);
    if (status) return std::string("none");
    EXPECT_EQ(status.error().code, base::Code::bad_input);
    return status.error().message;
  };
  EXPECT_EQ(refusal([](Config&) {}), "none");
  EXPECT_EQ(refusal([](Config& c) { c.rounds = 0; }), "rounds 0, expected at least 1");
  EXPECT_EQ(refusal([](Config& c) { c.per_round = 101; }),
            "per_round 101, expected at most the 100 clients");
  EXPECT_EQ(refusal([](Config& c) { c.lr = 0; }), "lr 0, expected a number above 0");
  EXPECT_EQ(refusal([](Config& c) { c.lr = std::nan(""); }), "lr nan, expected a number above 0");
  EXPECT_EQ(refusal([](Config& c) { c.aggregation.trim = 0.5; }),
            "trim 0.5, expected 0 or more and below 0.5");
  EXPECT_EQ(refusal([](Config& c) { c.aggregation.momentum = 1; }),
            "momentum 1, expected 0 or more and below 1");
  EXPECT_EQ(refusal([](Config& c) { c.partition.alpha = -1; }),
            "alpha -1, expected a number above 0");
  EXPECT_EQ(refusal([](Config& c) { c.world.dropout = 1; }),
            "dropout 1, expected 0 or more and below 1");
  EXPECT_EQ(refusal([](Config& c) { c.privacy.clip = -1; }),
            "dp_clip -1, expected 0 (off) or more");
  EXPECT_EQ(refusal([](Config& c) { c.dataset = "mnst"; }),
            "data set 'mnst': did you mean 'mnist'?");
  EXPECT_EQ(refusal([](Config& c) { c.backend = "onednm"; }),
            "backend 'onednm': did you mean 'onednn'?");
}

TEST(Configuration, OptionsThatDoNotGoTogetherAreRefused) {
  Config config;
  config.workflow = Workflow::cyclic;
  EXPECT_TRUE(check(config));
  config.privacy.clip = 1;
  EXPECT_FALSE(check(config));
  config.privacy.clip = 0;
  config.aggregation.rule = Rule::median;
  EXPECT_FALSE(check(config));
  config.workflow = Workflow::server;
  EXPECT_TRUE(check(config));
  config.privacy.clip = 1;
  EXPECT_EQ(check(config).error().message,
            "dp_clip with aggregation median, expected a mean: the noise is added to a sum");
}

TEST(Configuration, WhatAClientDoesInARoundIsSaidInOneWay) {
  const auto refusal = [](auto change) {
    Config config;
    change(config);
    const base::Status status = check(config);
    return status ? std::string("none") : status.error().message;
  };
  EXPECT_EQ(refusal([](Config& c) { c.local_steps = 5; }), "none");
  EXPECT_EQ(refusal([](Config& c) { c.local_steps = 0; }), "local_steps 0, expected 1 to 1000000");
  EXPECT_EQ(refusal([](Config& c) {
              c.local_steps = 5;
              c.epochs = 2;
            }),
            "local_steps 5 with epochs 2, expected one of the two");
  EXPECT_EQ(refusal([](Config& c) { c.schedule.kind = ScheduleKind::step; }),
            "lr_schedule step, expected lr_step_size with it");
  EXPECT_EQ(refusal([](Config& c) { c.schedule.step_size = 5; }),
            "lr_step_size with lr_schedule constant, expected step");
  EXPECT_EQ(refusal([](Config& c) { c.schedule.t_max = 5; }),
            "lr_t_max with lr_schedule constant, expected cosine");
  EXPECT_EQ(refusal([](Config& c) { c.schedule.kind = ScheduleKind::cosine; }), "none");
  EXPECT_EQ(refusal([](Config& c) {
              c.schedule.kind = ScheduleKind::cosine;
              c.schedule.eta_min = 0.01;
            }),
            "lr_eta_min 0.01, expected less than the lr of 0.01");
  EXPECT_EQ(refusal([](Config& c) { c.schedule.gamma = 1.5; }),
            "lr_gamma 1.5, expected a number above 0 and at most 1");
  EXPECT_EQ(refusal([](Config& c) {
              c.workflow = Workflow::cyclic;
              c.aggregation.weighting = Weighting::none;
            }),
            "workflow cyclic with weighting none, expected server or swarm: it sums nothing");
}

TEST(Configuration, ARoundTimeoutIsForSwarms) {
  Config config;
  config.world.round_timeout = 5;
  ASSERT_FALSE(check(config));
  EXPECT_EQ(check(config).error().message.substr(0, 50),
            "round_timeout with workflow server, expected swarm");
  config.workflow = Workflow::swarm;
  EXPECT_TRUE(check(config));
  config.world.round_timeout = 0;
  EXPECT_EQ(check(config).error().message, "round_timeout 0, expected seconds above 0");
}

TEST(Configuration, NvflaresSettingsGoWithTheirWorkflow) {
  EXPECT_TRUE(check(NvflareSettings{}, Workflow::server));
  NvflareSettings apart;
  apart.server_memory_gc_rounds = 5;
  apart.client_memory_gc_rounds = 1;
  EXPECT_TRUE(check(apart, Workflow::server));
  EXPECT_TRUE(check(apart, Workflow::cyclic));
  EXPECT_EQ(check(apart, Workflow::swarm).error().message,
            "server_memory_gc_rounds with workflow swarm, expected memory_gc_rounds: clients "
            "aggregate");
  NvflareSettings both;
  both.memory_gc_rounds = 3;
  EXPECT_TRUE(check(both, Workflow::swarm));
  EXPECT_EQ(both.of_trainers(), 3);
  EXPECT_EQ(both.of_aggregators(), 3);
  both.client_memory_gc_rounds = 0;
  EXPECT_EQ(both.of_trainers(), 0);
  EXPECT_FALSE(check(both, Workflow::server));
  both.memory_gc_rounds = 2'000'000;
  EXPECT_EQ(check(both, Workflow::swarm).error().message,
            "memory_gc_rounds 2e+06, expected 0 to 1000000");
}

TEST(Configuration, NamesGoBothWays) {
  for (const Workflow workflow : {Workflow::server, Workflow::cyclic, Workflow::swarm})
    EXPECT_EQ(*workflow_from(name_of(workflow)), workflow);
  for (int rule = 0; rule < 7; ++rule)
    EXPECT_EQ(*rule_from(name_of(static_cast<Rule>(rule))), static_cast<Rule>(rule));
  for (const Weighting weighting : {Weighting::samples, Weighting::none})
    EXPECT_EQ(*weighting_from(name_of(weighting)), weighting);
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine})
    EXPECT_EQ(*schedule_from(name_of(kind)), kind);
}

TEST(MemoryPlans, AddUpWhatIsFixedAndWhatEachClientTakes) {
  MemoryPlan plan;
  plan.items = {{"data set", 1000, false, false},  {"accumulator", 200, false, false},
                {"training", 30, true, false},     {"spill file", 5000, false, true},
                {"weights", 7, true, false, true}, {"pictures", 50, false, false, true}};
  plan.parallel_clients = 4;
  plan.available = 4096;
  plan.available_from = "--memory";
  EXPECT_EQ(plan.fixed(), 1200U);
  EXPECT_EQ(plan.per_client(), 30U);
  EXPECT_EQ(plan.total(), 1320U);
  EXPECT_EQ(plan.card_total(), 78U);
  const base::Json json = to_json(plan);
  EXPECT_EQ(json.find("total_bytes")->as_unsigned(), 1320U);
  EXPECT_EQ(json.find("parallel_clients")->as_unsigned(), 4U);
  ASSERT_EQ(json.find("items")->as_array()->size(), 6U);
  EXPECT_EQ(
      json.find("items")->as_array()->at(3).text(),
      R"({"purpose":"spill file","bytes":5000,"per_client":false,"on_disk":true,"on_card":false})");
}

}  // namespace
}  // namespace ebb::fl
