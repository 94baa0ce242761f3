// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/result.h"
#include "record/batch.h"
#include "record/database.h"
#include "record/model.h"
#include "record/thinning.h"

namespace ebb::record {

/// One run in a record, written batch by batch. Where the file disappears, a new one takes its
/// place. Not thread-safe.
class RunFile {
 public:
  static base::Result<RunFile> begin(const std::string& path, const Run& run,
                                     const FileBounds& bounds = {});

  std::int64_t run_id() const { return run_.id; }

  /// Writes a batch in one transaction and does one piece of thinning. After a failure the same
  /// batch may be given again.
  base::Status write(const Batch& batch);

  /// Writes how the run ended.
  base::Status finish(const Run& run);

 private:
  struct Entry {
    std::int64_t number = 0;
    Process process;
    bool is_stored = false;
    std::uint64_t rss = 0;  ///< the newest
    std::uint64_t peak = 0;
    std::uint64_t stored_peak = 0;
  };
  struct Totals {
    std::int64_t last_ms = 0;
    std::uint64_t peak_rss = 0;
    std::uint64_t peak_process_rss = 0;
    std::uint64_t refused = 0;  ///< processes beyond those that can be kept
    std::uint64_t samples = 0;
    std::uint64_t rounds = 0;
    std::uint64_t lost = 0;
    std::int64_t events = 0;
  };

  RunFile(Database database, Run run, const FileBounds& bounds);

  /// Made where there is none; null where there are too many.
  Entry* entry_of(const ProcessKey& key, double seconds);
  void note(const Batch& batch);
  void note_process(const Process& process);
  void note_end(const ProcessKey& key, double seconds);
  void note_sample(const Sample& sample);
  void note_peak(Entry& entry, std::uint64_t rss);
  void note_time(double seconds);
  void close_round_of_samples();
  bool store_run();
  void store_processes();
  void forget_stored();
  void store(const Batch& batch);
  void thin(std::size_t written);
  void forget_removed_processes();
  base::Status transact(const Batch& batch);

  Database database_;
  Run run_;
  FileBounds bounds_;
  std::string writer_;
  std::map<ProcessKey, Entry> entries_;
  std::int64_t next_number_ = 1;
  Totals totals_;
  std::uint64_t sum_rss_ = 0;     ///< of the newest samples of processes that are there
  std::set<ProcessKey> sampled_;  ///< since the sum was last looked at
  std::size_t rows_since_thinned_ = 0;
  std::uint64_t writes_ = 0;
  bool file_is_thin_ = false;
  bool failed_before_ = false;
};

}  // namespace ebb::record
