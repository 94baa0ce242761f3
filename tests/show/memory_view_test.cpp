// SPDX-License-Identifier: Apache-2.0
#include "show/memory_view.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::show {
namespace {

fact::MemorySplit split_with_places() {
  fact::MemorySplit split;
  split.usage = 200 * base::kMiB;
  split.live = 150 * base::kMiB;
  split.retained = 10 * base::kMiB;
  split.unexplained = 40 * base::kMiB;
  split.processes.resize(3);
  split.processes[0] = {7, "train.py", 100 * base::kMiB, 100 * base::kMiB, {}, {}};
  split.processes[0].sites = {{"loader.py:42 load_batch", 60 * base::kMiB},
                              {"cache.py:3 fill", 30 * base::kMiB}};
  split.processes[1] = {8, "worker", 40 * base::kMiB, 40 * base::kMiB, {}, {}};
  split.processes[1].sites = {{"a.c:1 take", 90 * base::kMiB}, {"a.c:2 ask", 5 * base::kMiB}};
  split.processes[2] = {9, "sh", 10 * base::kMiB, 10 * base::kMiB, {}, {}};
  return split;
}

TEST(SplitTable, HasARowForEachPlaceAndAddsUp) {
  const page::Table table = split_table(split_with_places());
  std::vector<std::pair<std::string, double>> rows;
  double sum = 0;
  for (const auto& row : table.rows) {
    rows.emplace_back(*row[0].as_string(), row[1].as_double().value_or(0) / base::kMiB);
    sum += rows.back().second;
  }
  EXPECT_EQ(rows, (std::vector<std::pair<std::string, double>>{
                      {"live heap, process 7 (train.py), loader.py:42 load_batch", 60},
                      {"live heap, process 7 (train.py), cache.py:3 fill", 30},
                      {"live heap, process 7 (train.py), elsewhere", 10},
                      {"live heap, process 8 (worker), a.c:1 take", 40},
                      {"live heap, process 9 (sh)", 10},
                      {"retained", 10},
                      {"unexplained", 40}}))
      << "more was asked for than touched";
  EXPECT_EQ(sum, 200);
}

}  // namespace
}  // namespace ebb::show
