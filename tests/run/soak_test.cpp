// SPDX-License-Identifier: Apache-2.0
// Half an hour of real jobs. One with a worker pool: its memory stays level, and nobody notices
// that it is managed. One that forks in every way there is: nothing hangs, nothing is lost.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "base/bytes.h"
#include "base/file.h"
#include "run/run_fixture.h"
#include "sense/process.h"
#include "sense/process_text.h"
#include "sense/process_tree.h"
#include "trend/assessment.h"

namespace ebb::run {
namespace {

constexpr double kMostCpu = 0.005;  // of one core
constexpr std::uint64_t kMostMemory = 30 * base::kMiB;

double cpu_seconds(const std::string& stat) {
  const auto text = base::read_file(stat);
  const auto parsed = text ? sense::parse_stat(*text, stat) : text.error();
  return parsed ? static_cast<double>(parsed->cpu_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK))
                : 0;
}

/// CPU time of the agents in the processes below `root`.
double agents_below(pid_t root) {
  double sum = 0;
  for (const pid_t pid : sense::descendants_of(root).value_or({})) {
    std::error_code gone;
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
      if (base::read_file(task.path() / "comm").value_or("") == "ebb-agent\n")
        sum += cpu_seconds(task.path() / "stat");
    }
  }
  return sum;
}

TEST_F(EbbRun, KeepsALongJobLevelAtNextToNoCost) {
  const auto start = std::chrono::steady_clock::now();
  support::Subprocess child(command({}, {"/usr/bin/python3", EBB_POOL_PY, EBB_SOAK_SECONDS}));
  double supervisor = 0;
  double agents = 0;
  double elapsed = 0;
  std::uint64_t memory = 0;
  const std::string own = "/proc/" + std::to_string(child.pid());
  while (sense::read_process(child.pid())) {
    supervisor = std::max(supervisor, cpu_seconds(own + "/stat"));
    agents = std::max(agents, agents_below(child.pid()));
    memory = std::max(memory, sense::read_rss_fast(child.pid()).value_or(0));
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  EXPECT_EQ(child.wait(), 0) << child.read_rest_of_error();
  std::printf("supervisor %.2f s and %s, agents %.2f s in %.0f s: %.2f %% of one core\n",
              supervisor, base::bytes_text(memory).c_str(), agents, elapsed,
              100 * (supervisor + agents) / elapsed);
  EXPECT_LT((supervisor + agents) / elapsed, kMostCpu);
  EXPECT_LT(memory, kMostMemory);
  const record::RecordedRun recorded = last();
  EXPECT_EQ(recorded.processes.size(), 3U);
  for (const record::ProcessHistory& process : recorded.processes) {
    std::vector<trend::Point> rss;
    for (const record::Reading& reading : process.readings)
      rss.push_back({reading.middle(), static_cast<double>(reading.rss->low)});
    EXPECT_FALSE(trend::grows(trend::assess(rss))) << process.process.command;
  }
}

TEST_F(EbbRun, LetsALongJobForkInEveryWayWhileItCleansUp) {
  const support::Finished done = run(
      {"--interval", "50ms"}, {"/usr/bin/python3", EBB_FORKS_PY, EBB_LIBRARY, EBB_SOAK_SECONDS});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "done\n") << done.error;
  const record::RecordedRun recorded = last();
  std::size_t managed = 0;
  for (const record::ProcessHistory& process : recorded.processes)
    managed += process.process.agent ? 1U : 0U;
  std::size_t known = managed;
  std::size_t silent = 0;
  for (const record::Event& event : recorded.events) {
    known += event.kind == "agent" ? 1U : 0U;
    silent += event.is(record::EventKind::silent) ? 1U : 0U;
  }
  std::printf("%zu processes, %zu managed, %zu silent\n", recorded.processes.size(), managed,
              silent);
  EXPECT_GE(known, 100U);
  EXPECT_EQ(silent, 0U) << "nothing in the job holds an agent up";
}

}  // namespace
}  // namespace ebb::run
