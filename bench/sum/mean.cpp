// SPDX-License-Identifier: Apache-2.0
// The weighted mean of float32 tensors: exact sums in one accumulator, beside what array programs
// do, which is a temporary for each product and a new array for each sum.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.h"
#include "sum/tensor_sum.h"

namespace {

constexpr std::size_t kElements = std::size_t{16} << 20;  // 64 MiB
constexpr int kClients = 8;

using Array = std::unique_ptr<float[]>;

Array new_array() {
  return std::make_unique_for_overwrite<float[]>(kElements);
}

double weight_of(int client) {
  return 500.0 + client;
}

struct Figures {
  double add_ms = 0;
  double mean_ms = 0;
  double bytes_per_element = 0;
};

double ms_since(std::int64_t start) {
  return ebb::base::seconds_between(start, ebb::base::system_clock().now_ns()) * 1e3;
}

Figures with_temporaries(const std::vector<Array>& clients) {
  Figures figures;
  Array total;
  double weight = 0;
  for (int client = 0; client < kClients; ++client) {
    const std::int64_t start = ebb::base::system_clock().now_ns();
    const auto factor = static_cast<float>(weight_of(client));
    Array product = new_array();
    for (std::size_t i = 0; i < kElements; ++i)
      product[i] = clients[static_cast<std::size_t>(client)][i] * factor;
    if (total == nullptr) {
      total = std::move(product);
    } else {
      Array sum = new_array();
      for (std::size_t i = 0; i < kElements; ++i)
        sum[i] = total[i] + product[i];
      total = std::move(sum);
    }
    weight += weight_of(client);
    figures.add_ms += ms_since(start) / kClients;
  }
  const std::int64_t start = ebb::base::system_clock().now_ns();
  Array mean = new_array();
  const auto factor = static_cast<float>(1.0 / weight);
  for (std::size_t i = 0; i < kElements; ++i)
    mean[i] = total[i] * factor;
  figures.mean_ms = ms_since(start);
  figures.bytes_per_element = 3 * sizeof(float);  // total, product and their sum at once
  return figures;
}

Figures with_exact_sums(const std::vector<Array>& clients) {
  Figures figures;
  auto sum = ebb::sum::TensorSum::create(kElements);
  if (!sum) std::abort();
  for (int client = 0; client < kClients; ++client) {
    const std::int64_t start = ebb::base::system_clock().now_ns();
    if (!(*sum)->add(ebb::sum::ElementType::float32,
                     clients[static_cast<std::size_t>(client)].get(), weight_of(client)))
      std::abort();
    figures.add_ms += ms_since(start) / kClients;
  }
  figures.bytes_per_element = static_cast<double>((*sum)->bytes()) / kElements;
  Array mean = new_array();
  const std::int64_t start = ebb::base::system_clock().now_ns();
  if (!(*sum)->mean(ebb::sum::ElementType::float32, mean.get(), true)) std::abort();
  figures.mean_ms = ms_since(start);
  return figures;
}

/// CPU time per element, the least of many rounds; page faults of the sums included.
struct Costs {
  double check_ns = 1e9;
  double add_ns = 1e9;
  double mean_ns = 1e9;
};

constexpr std::size_t kSmallElements = 2'000'000;

Costs costs_of_small_tensors(const std::vector<Array>& clients, int additions) {
  constexpr int kRounds = 25;
  Costs costs;
  const auto ns_per_element = [](std::int64_t start) {
    return static_cast<double>(ebb::base::thread_cpu_clock().now_ns() - start) / kSmallElements;
  };
  Array mean = new_array();
  for (int round = 0; round < kRounds; ++round) {
    auto sum = ebb::sum::TensorSum::create(kSmallElements);
    if (!sum) std::abort();
    std::int64_t start = ebb::base::thread_cpu_clock().now_ns();
    for (int client = 0; client < additions; ++client)
      if (!(*sum)->add(ebb::sum::ElementType::float32,
                       clients[static_cast<std::size_t>(client)].get(), 8.0))
        std::abort();
    costs.add_ns = std::min(costs.add_ns, ns_per_element(start) / additions);
    start = ebb::base::thread_cpu_clock().now_ns();
    if (!(*sum)->mean(ebb::sum::ElementType::float32, mean.get(), true)) std::abort();
    costs.mean_ns = std::min(costs.mean_ns, ns_per_element(start));
    start = ebb::base::thread_cpu_clock().now_ns();
    if (!ebb::sum::check(ebb::sum::ElementType::float32, kSmallElements, clients[0].get()))
      std::abort();
    costs.check_ns = std::min(costs.check_ns, ns_per_element(start));
  }
  return costs;
}

void print(const char* name, const Figures& figures) {
  std::printf("| %-22s | %8.1f | %9.1f | %17.2f |\n", name, figures.add_ms, figures.mean_ms,
              figures.bytes_per_element);
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<float> pattern(1U << 20U);
  std::generate(pattern.begin(), pattern.end(), [&] { return normal(random); });
  std::vector<Array> clients;
  for (int client = 0; client < kClients; ++client) {
    Array values = new_array();
    for (std::size_t i = 0; i < kElements; ++i)
      values[i] = pattern[(i * 7 + static_cast<std::size_t>(client)) % pattern.size()];
    clients.push_back(std::move(values));
  }
  std::printf("%d tensors of %zu MiB of float32, weights of 500 to 507\n\n", kClients,
              kElements * sizeof(float) >> 20U);
  std::printf("| %-22s | %8s | %9s | %17s |\n", "way", "add, ms", "mean, ms", "bytes per element");
  std::printf("|---|--:|--:|--:|\n");
  print("temporaries per tensor", with_temporaries(clients));
  print("exact sums", with_exact_sums(clients));
  std::printf("\nTensors of %zu float32, weight 8, released by the mean; ns of CPU per element\n\n",
              kSmallElements);
  std::printf("| %9s | %5s | %5s | %5s |\n", "additions", "check", "add", "mean");
  std::printf("|--:|--:|--:|--:|\n");
  for (const int additions : {1, 2, 4, 8}) {
    const Costs costs = costs_of_small_tensors(clients, additions);
    std::printf("| %9d | %5.2f | %5.2f | %5.2f |\n", additions, costs.check_ns, costs.add_ns,
                costs.mean_ns);
  }
  return 0;
}
