// SPDX-License-Identifier: Apache-2.0
#include "story/labels.h"

#include <gtest/gtest.h>

namespace ebb::story {
namespace {

struct Given {
  int pid;
  int parent;
  std::string command;
};

std::vector<record::ProcessHistory> processes_of(const std::vector<Given>& all) {
  std::vector<record::ProcessHistory> processes;
  for (const Given& one : all) {
    record::ProcessHistory history;
    history.process.pid = one.pid;
    history.process.parent = one.parent;
    history.process.command = one.command;
    processes.push_back(std::move(history));
  }
  return processes;
}

std::vector<std::string> names(const std::vector<Given>& all) {
  std::vector<std::string> names;
  for (const Label& label : labels_of(processes_of(all)))
    names.push_back(label.name);
  return names;
}

using Names = std::vector<std::string>;

std::string simulator_worker(const char* site, const char* token, const char* port) {
  return std::string(
             "/opt/venv/bin/python3.11 -m nvflare.private.fed.app.simulator.simulator_worker"
             " -o /tmp/workspace --logging_config /tmp/workspace/log_config.json --client ") +
         site + " --token " + token + " --port " + port +
         " --gpu None --parent_pid 4711 --simulator_engine_conf /tmp/x.json";
}

TEST(Labels, TellTheProcessesOfAnNvflareJobApart) {
  EXPECT_EQ(
      names(
          {{1, 0, "/opt/venv/bin/python3.11 /opt/venv/bin/nvflare simulator -w /tmp/workspace job"},
           {2, 1, simulator_worker("site-1", "6e0d2f34-6b0e-4f5c-9a55-0d5d9f1f6a01", "40001")},
           {3, 1, simulator_worker("site-2", "0d9a2b11-1c8e-4b7a-8e9f-aa5a9f1f6a02", "40002")},
           {4, 1,
            "/opt/venv/bin/python3.11 -u -m nvflare.private.fed.app.server.server_train -m "
            "/tmp/server -s fed_server.json --set secure_train=false org=nvidia"}}),
      (Names{
          "nvflare simulator -w /tmp/workspace job", "simulator_worker site-1",
          "simulator_worker site-2",
          "server_train -m /tmp/server -s fed_server.json --set secure_train=false org=nvidia"}));
}

TEST(Labels, ForkedChildrenAreWorkersOfTheirParent) {
  const std::string train = "/usr/bin/python3 -B -X dev train.py --epochs 3";
  const std::vector<Given> all = {
      {10, 1, train}, {11, 10, train}, {12, 10, train}, {13, 11, train}};
  EXPECT_EQ(names(all),
            (Names{"train.py --epochs 3", "train.py --epochs 3, worker 1",
                   "train.py --epochs 3, worker 2", "train.py --epochs 3, worker 1, worker 1"}));
  const std::vector<LabelRow> rows = rows_of({2, 0, 1, 3}, labels_of(processes_of(all)));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].text, "train.py --epochs 3");
  EXPECT_EQ(rows[1].text, "  worker 1");
  EXPECT_EQ(rows[2].text, "    worker 1");
  EXPECT_EQ(rows[2].index, 3U);
  EXPECT_EQ(rows[3].text, "  worker 2");
}

TEST(Labels, AWorkerThatSaysWhatItIsHasThatName) {
  const std::string job = "/usr/bin/python3 job.py";
  const auto processes = processes_of({{10, 1, job}, {11, 10, job}, {12, 10, job}});
  record::Event named{3, name_of(record::EventKind::named), "simulator_server",
                      processes[2].process.key()};
  const std::vector<Label> labels = labels_of(processes, {named});
  EXPECT_EQ(labels[0].name, "job.py");
  EXPECT_EQ(labels[1].name, "job.py, worker 1");
  EXPECT_EQ(labels[2].name, "job.py, simulator_server");
  EXPECT_EQ(rows_of({0, 1, 2}, labels)[2].text, "  simulator_server");
  named.process->start += 1;
  EXPECT_EQ(labels_of(processes, {named})[2].name, "job.py, worker 2")
      << "another process of that number";
}

TEST(Labels, AWorkerWhoseParentIsNotListedHasItsWholeName) {
  const std::vector<Given> all = {{10, 1, "python train.py"}, {11, 10, "python train.py"}};
  const std::vector<LabelRow> rows = rows_of({1}, labels_of(processes_of(all)));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].text, "train.py, worker 1");
}

TEST(Labels, ShowNumbersWithTheirOptionsWhereNothingElseDiffers) {
  EXPECT_EQ(names({{1, 0, "torchrun worker.py"},
                   {2, 1, "python worker.py --rank 0 --seed 7"},
                   {3, 1, "python worker.py --rank 1 --seed 7"}}),
            (Names{"torchrun worker.py", "worker.py --rank 0", "worker.py --rank 1"}));
  EXPECT_EQ(names({{1, 0, "./serve --port=80 --fast"}, {2, 1, "./serve --port=81"}}),
            (Names{"serve --fast", "serve"}))
      << "no more than it takes";
}

TEST(Labels, NameTheHelpersOfMultiprocessingAndNumberWhatNothingTellsApart) {
  const std::string python = "/usr/bin/python3 -B -c from multiprocessing.";
  const std::string spawn = "spawn import spawn_main; spawn_main(tracker_fd=6, pipe_handle=";
  EXPECT_EQ(names({{1, 0, python + "resource_tracker import main;main(5)"},
                   {2, 0, python + spawn + "8) --multiprocessing-fork"},
                   {3, 0, python + spawn + "10) --multiprocessing-fork"},
                   {4, 0, "cat"},
                   {5, 0, "cat"}}),
            (Names{"resource_tracker", "spawn_main #1", "spawn_main #2", "cat #1", "cat #2"}));
}

TEST(Labels, TakeAnyCommandLine) {
  EXPECT_EQ(names({{1, 0, ""},
                   {2, 1, "   "},
                   {3, 1, "/"},
                   {4, 1, "python3"},
                   {5, 1, "python3 -m"},
                   {6, 1, "-"},
                   {7, 7, "python3 -c"},
                   {8, 1, "sh -c 'a b'"}})
                .size(),
            8U);
  EXPECT_EQ(names({{1, 0, "kworker"}, {2, 1, "kworker"}}), (Names{"kworker", "kworker, worker 1"}));
}

}  // namespace
}  // namespace ebb::story
