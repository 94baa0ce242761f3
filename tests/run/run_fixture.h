// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "record/store.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::run {

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
