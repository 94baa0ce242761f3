// SPDX-License-Identifier: Apache-2.0
// What registered clients cost where nobody trains: set-up, memory, a choice by each method, what a
// checkpoint has of them. Probes are answered at once: what clients do for them is not measured.
//
//   fl-clients [CLIENTS]...
//
// Memory is the growth of the resident set from 1,000 clients to as many, each in a process of its
// own.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "fl/config.h"
#include "fl/data/population.h"
#include "fl/local_work.h"
#include "sense/process.h"
#include "support/child.h"
#include "term/table.h"

namespace {

using namespace ebb;

constexpr std::uint32_t kFew = 1000;
constexpr std::uint32_t kRounds = 5;
constexpr std::uint32_t kCohort = 100;

double seconds_now() {
  return static_cast<double>(base::system_clock().now_ns()) * 1e-9;
}

fl::DataSet labels_alone() {
  fl::DataSet data;
  data.classes = 10;
  for (std::uint32_t i = 0; i < 60000; ++i)
    data.train.labels.push_back(static_cast<std::uint8_t>(i * 7 % 10));
  return data;
}

template <class T>
T checked(base::Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "fl-clients: %s\n", result.error().message.c_str());
  std::exit(1);
}

/// Rounds in which a tenth of the cohort does not answer; the slowest choice.
double slowest_choice(fl::Selector& selector, fl::Population& population, std::uint64_t seed) {
  const fl::Choice::Probe probe = [](std::span<const std::uint32_t> ids) {
    return base::Result<std::vector<double>>(std::vector<double>(ids.size(), 1.0));
  };
  double slowest = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    fl::Random random(seed, fl::Purpose::selection, round);
    const double start = seconds_now();
    const auto cohort = checked(
        selector.select({round, kCohort, population.clients(), std::nullopt, random, probe}));
    slowest = std::max(slowest, seconds_now() - start);
    population.choose(cohort);
    std::vector<std::uint32_t> took_part;
    for (const std::uint32_t id : cohort) {
      if (id % 10 == 0) continue;
      fl::ClientReport report{id, round, 1.0 / (id + 1), 1, 1, {}};
      if (selector.needs_sketches()) report.sketch.assign(fl::kSketchLength, 0.5F);
      population.learn(report);
      took_part.push_back(id);
    }
    selector.learn({round, took_part, population.clients()});
  }
  return slowest;
}

/// One count of clients with one method, in this process.
base::Json measure(std::uint32_t clients, const std::string& method) {
  fl::Config config;
  config.partition.kind = fl::PartitionKind::mix;
  config.partition.sizes = fl::SizeSkew::lognormal;
  config.clients = clients;
  const fl::DataSet data = labels_alone();
  const auto selector = checked(fl::create_selector(method, {}, {config.candidates, config.seed}));
  const double start = seconds_now();
  const fl::Holdings holdings =
      checked(fl::Holdings::create(data, clients, config.partition, config.seed));
  fl::World world = [&] {
    std::vector<std::uint64_t> visited;
    for (std::uint32_t client = 0; client < clients; ++client)
      visited.push_back(fl::local_work(config, holdings.size_of(client)).visited);
    return checked(fl::World::create({}, {1e6, 100'000}, visited, config.seed));
  }();
  fl::Population population(holdings, data, selector->needs_labels());
  const double set_up = seconds_now() - start;
  const double of_round = seconds_now();
  world.move_to(1);
  population.meet(world);
  const double meeting = seconds_now() - of_round;
  const std::uint64_t resident = checked(sense::read_rss_fast());
  const double choice = slowest_choice(*selector, population, config.seed);
  const double counting = seconds_now();
  (void)population.participation();
  return base::Json::object({{"set_up", set_up},
                             {"meeting", meeting + (seconds_now() - counting)},
                             {"resident", resident},
                             {"choice", choice}});
}

double measured(std::uint32_t clients, const std::string& method, const char* key) {
  return bench::number(bench::measure_in_child({std::to_string(clients), method}, {}), key);
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::atoi(words[2]) == 0) {
    const auto clients = static_cast<std::uint32_t>(std::atoi(words[1]));
    std::printf("%s\n", measure(clients, words[2]).text().c_str());
    return 0;
  }
  std::vector<std::uint32_t> counts;
  for (int i = 1; i < count; ++i)
    counts.push_back(static_cast<std::uint32_t>(std::atoi(words[i])));
  if (counts.empty()) counts = {kFew, 100'000, 1'000'000};

  std::printf("10 labels, 60,000 samples, lognormal sizes; %u of the clients a round\n\n", kCohort);
  term::Table table({{"clients"}, {"set-up"}, {"state of a round"}, {"bytes per client"}});
  const double base_line = measured(kFew, "heuristic.random", "resident");
  for (const std::uint32_t clients : counts) {
    const base::Json of =
        bench::measure_in_child({std::to_string(clients), "heuristic.random"}, {});
    const double grown = bench::number(of, "resident") - base_line;
    table.add_row({std::to_string(clients),
                   base::format_text("%.2f s", bench::number(of, "set_up")),
                   base::format_text("%.1f ms", 1e3 * bench::number(of, "meeting")),
                   clients > kFew ? base::format_text("%.0f", grown / (clients - kFew)) : "-"});
  }
  std::printf("%s\n", table.markdown().c_str());

  std::vector<term::Table::Column> columns = {{"choice", term::Align::left}};
  for (const std::uint32_t clients : counts)
    columns.push_back({std::to_string(clients)});
  term::Table choices(columns);
  for (const fl::Method& method : fl::methods()) {
    std::vector<std::string> row = {std::string(method.key)};
    for (const std::uint32_t clients : counts)
      row.push_back(
          base::format_text("%.1f ms", 1e3 * measured(clients, std::string(method.key), "choice")));
    choices.add_row(row);
  }
  std::printf("%s\n", choices.markdown().c_str());
  return 0;
}
