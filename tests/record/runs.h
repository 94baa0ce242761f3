// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "record/run_file.h"
#include "record/store.h"
#include "record/writer.h"

namespace ebb::record {

inline constexpr std::uint64_t kMiB = 1 << 20;

inline Run run_named(const std::string& name) {
  Run run;
  run.name = name;
  run.command = {"python3", "train.py", "--epochs", "3"};
  run.role = "server";
  run.allocator = "keep";
  run.host = "box";
  run.version = "0.1.0";
  run.started = 1'700'000'000.5;
  run.limit = 8192 * kMiB;
  return run;
}

inline Run ended(Run run, int status = 0) {
  run.ended = run.started + 60;
  run.exit_code = status;
  run.ending = fact::RunEnd::exit;
  return run;
}

inline constexpr ProcessKey kMain{100, 5000};
inline constexpr ProcessKey kWorker{101, 5001};

inline Process process_of(const ProcessKey& key, const std::string& command = "python3 train.py") {
  Process process;
  process.pid = key.pid;
  process.start = key.start;
  process.parent = 1;
  process.command = command;
  process.allocator = "glibc";
  process.agent = true;
  return process;
}

inline Sample sample_of(const ProcessKey& key, double seconds, std::uint64_t rss) {
  Sample sample;
  sample.process = key;
  sample.seconds = seconds;
  sample.memory.rss = rss;
  sample.memory.anon = rss - rss / 8;
  sample.memory.live = rss / 2;
  return sample;
}

inline std::unique_ptr<Writer> begin(const std::string& path, const Run& run) {
  auto writer = Writer::begin(path, run);
  EXPECT_TRUE(writer) << writer.error().message;
  return writer ? *std::move(writer) : nullptr;
}

inline Store opened(const std::string& path) {
  auto store = Store::open(path);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    std::abort();
  }
  return *std::move(store);
}

inline RecordedRun read(const std::string& path, const std::string& run = "last") {
  Store store = opened(path);
  const auto found = store.find(run);
  EXPECT_TRUE(found) << found.error().message;
  auto whole = store.read(found->run.id);
  EXPECT_TRUE(whole) << whole.error().message;
  return *std::move(whole);
}

/// What SQLite itself says of the file's state.
inline std::string integrity(const std::string& path) {
  auto database = Database::open(path, Database::Mode::write, 5000);
  if (!database) return database.error().message;
  std::string answer;
  database->each("PRAGMA integrity_check", [&](const Row& row) { answer += row.text(0); });
  return database->failed() ? database->take_failure().message : answer;
}

}  // namespace ebb::record
