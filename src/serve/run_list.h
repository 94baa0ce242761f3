// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "fact/diagnosis.h"
#include "record/store.h"

namespace ebb::serve {

/// A short name of a text, another one of another text.
std::string digest(const std::string& text);

/// The runs of a record, read again where its file has changed, and what their memory did. Not
/// thread-safe.
class RunList {
 public:
  RunList(std::string record, const base::Clock& clock)
      : record_(std::move(record)), clock_(&clock) {}

  /// Takes in what has changed, unless it was looked at less than `seconds` ago. Errors as of
  /// record::list_runs().
  base::Status refresh(double seconds);

  /// The newest first. Requires: refresh() was called.
  const std::vector<record::RunSummary>& runs() const { return runs_; }
  /// Null where there is none.
  const record::RunSummary* find(std::int64_t id) const;

  /// Judges runs that have no verdict yet, the newest first, and again those that run, for about so
  /// long.
  void judge(double seconds);
  /// Those that are known.
  std::map<std::int64_t, fact::Verdict> verdicts() const;

  /// Changes whenever something does that is shown of a run.
  static std::string state_of(const record::RunSummary& run);
  /// The same of all runs and their verdicts.
  const std::string& revision();

 private:
  /// Of the file and of what SQLite keeps beside it.
  struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Judged {
    fact::Verdict verdict = fact::Verdict::not_enough_data;
    std::string state;         ///< of the run, when it was judged
    std::int64_t next_ns = 0;  ///< not again before
  };

  static Stamp stamp_of(const std::string& path);

  std::string record_;
  const base::Clock* clock_;
  std::array<Stamp, 2> stamps_;
  std::int64_t next_read_ns_ = 0;  ///< at the latest: a recorder may be gone without a word
  std::int64_t looked_ns_ = 0;
  std::int64_t idle_until_ns_ = 0;
  bool was_read_ = false;
  std::vector<record::RunSummary> runs_;
  std::string revision_;  ///< empty: to be made anew
  std::map<std::int64_t, Judged> judged_;
};

}  // namespace ebb::serve
