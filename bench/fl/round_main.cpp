// SPDX-License-Identifier: Apache-2.0
// A federated round of the simulator against the bare libtorch steps that it consists of, on the
// same threads and back end in the same run.
//
//   fl-round [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bare_steps.h"
#include "base/bytes.h"
#include "base/text.h"
#include "fl/data/partition.h"
#include "fl/simulation.h"
#include "heap/host_allocator.h"
#include "sense/process.h"
#include "term/table.h"

namespace {

using namespace ebb;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int failed(const base::Error& error) {
  std::fprintf(stderr, "fl-round: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  fl::Config config;
  config.partition.kind = fl::PartitionKind::dirichlet;
  config.rounds = count > 1 ? static_cast<std::uint32_t>(std::atoi(words[1])) : 10;
  base::ReclaimerRegistry reclaimers;
  keep::Cleaner cleaner(heap::host_allocator(), reclaimers,
                        [] { return sense::read_rss_fast().value_or(0); });
  const fl::Execution execution;
  auto resources = fl::load_resources(config, execution, cleaner, fl::alone());
  if (!resources) return failed(resources.error());
  fl::Observer nobody;
  const auto result = fl::simulate(config, execution, *resources, nobody);
  if (!result) return failed(result.error());
  const std::uint64_t peak = result->peak_rss;

  const auto partition = fl::partition_samples(resources->data->train.labels, 10, config.clients,
                                               config.partition, config.seed);
  if (!partition) return failed(partition.error());
  bench::BareSteps bare(*resources->data, config.batch, result->plan.parallel_clients);
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> products;
  double samples = 0;
  for (const fl::RoundReport& report : result->rounds) {
    std::vector<std::uint32_t> sizes;
    for (const std::uint32_t client : report.cohort)
      sizes.push_back(static_cast<std::uint32_t>(partition->of(client).size()));
    for (const std::uint32_t size : sizes)
      samples += size;
    ours.push_back(report.wall_seconds);
    theirs.push_back(bare.train(sizes) + bare.evaluate());
    products.push_back(bare.multiply(sizes));
  }
  const double ratio = median(ours) / median(theirs);
  const double over_products = median(ours) / median(products);
  std::printf(
      "Fashion-MNIST, CNN-MNIST, 100 clients, 10 per round, batch 32, Dirichlet 0.5, %u rounds, "
      "back end %s, %u threads\n%.0f training and %zu test samples per round on average\n\n",
      config.rounds, result->config.backend.c_str(), result->plan.parallel_clients,
      samples / config.rounds, resources->data->test.size());
  term::Table table({{"", term::Align::left}, {"wall per round"}, {"set-up"}, {"peak RSS"}});
  table.add_row({"ebb simulate", base::format_text("%.3f s", median(ours)),
                 base::format_text("%.2f s", result->setup_seconds), base::bytes_text(peak)});
  table.add_row(
      {"bare libtorch steps and evaluation", base::format_text("%.3f s", median(theirs)), "", ""});
  table.add_row({"products of matrices alone, by sgemm",
                 base::format_text("%.3f s", median(products)), "", ""});
  table.add_row(
      {"ebb over bare steps (0.62 at the most, or)", base::format_text("%.2f", ratio), "", ""});
  table.add_row(
      {"ebb over products (1.2 at the most)", base::format_text("%.2f", over_products), "", ""});
  table.add_row({"CSFL, recorded: 2 x Neoverse-V1, Debian's torch 1.13, OpenBLAS", "5.21 s", "10 s",
                 "415 MiB"});
  std::printf("%s\n", table.markdown().c_str());
  return ratio <= 0.62 || over_products <= 1.2 ? 0 : 1;
}
