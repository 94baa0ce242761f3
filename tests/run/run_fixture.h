// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "record/store.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::run {

/// Waits until `is_so`; fails the test where it never is. Looks for at most a tenth of the time: to
/// read a record takes long, and what is waited for needs the processor too.
template <class Condition>
void wait_until(Condition&& is_so) {
  using Clock = std::chrono::steady_clock;
  for (Clock::duration waited{}; waited < std::chrono::minutes(10);) {
    const Clock::time_point before = Clock::now();
    if (is_so()) return;
    const Clock::duration pause =
        std::max<Clock::duration>(std::chrono::milliseconds(20), 9 * (Clock::now() - before));
    std::this_thread::sleep_for(pause);
    waited += pause;
  }
  ADD_FAILURE() << "waited ten minutes in vain";
}

/// Real runs of the program, recorded in a folder of the test's own.
class EbbRun : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  Words command(Words options, const Words& job) const {
    Words words = {EBB_PROGRAM, "run", "--db", db()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), job.begin(), job.end());
    return words;
  }

  support::Finished run(const Words& options, const Words& job,
                        const support::Subprocess::Environment& extra = {}) const {
    return support::run(command(options, job), extra);
  }

  /// The command, which begins with TERM blocked, as its job does: one that is told to end before
  /// it has made up its mind about it hears of it afterwards, or never.
  static Words with_term_blocked(const Words& whole_command) {
    Words words = {"/usr/bin/python3", "-c",
                   "import os, signal, sys\n"
                   "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
                   "os.execv(sys.argv[1], sys.argv[1:])"};
    words.insert(words.end(), whole_command.begin(), whole_command.end());
    return words;
  }

  /// Runs a job that ends once stop_file() is there: as soon as `is_so` of its record so far.
  template <class Condition>
  support::Finished run_until(const Words& options, const Words& job, Condition&& is_so) const {
    return run_until(command(options, job), is_so);
  }
  template <class Condition>
  support::Finished run_until(const Words& whole_command, Condition&& is_so) const {
    std::filesystem::remove(stop_file());
    const std::int64_t before = so_far().summary.run.id;
    support::Subprocess child(whole_command);
    wait_until([&] {
      const record::RecordedRun found = so_far();
      return found.summary.run.id > before && (found.summary.run.ended || is_so(found));
    });
    folder_.write("stop", "");
    return support::finished(child);
  }
  std::string stop_file() const { return folder_ / "stop"; }

  /// As last(), of a run that may not have begun.
  record::RecordedRun so_far() const {
    auto store = record::Store::open(db());
    if (!store) return {};
    const auto found = store->find("last");
    return found ? store->read(found->run.id).value_or({}) : record::RecordedRun{};
  }

  /// What is on record of the last run.
  record::RecordedRun last() const {
    auto store = record::Store::open(db());
    EXPECT_TRUE(store) << store.error().message;
    if (!store) return {};
    const auto found = store->find("last");
    EXPECT_TRUE(found) << found.error().message;
    if (!found) return {};
    auto read = store->read(found->run.id);
    EXPECT_TRUE(read) << read.error().message;
    return read ? *std::move(read) : record::RecordedRun{};
  }

  bool has_event(const record::RecordedRun& run, const std::string& kind) const {
    for (const record::Event& event : run.events)
      if (event.kind == kind) return true;
    return false;
  }

  std::string db() const { return folder_ / "runs.db"; }

  support::TemporaryDirectory folder_;
};

}  // namespace ebb::run
