// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "fact/diagnosis.h"
#include "fact/ledger.h"
#include "fact/memory_split.h"
#include "fact/private_allocator.h"
#include "keep/diagnosis.h"
#include "record/store.h"
#include "story/labels.h"
#include "story/process_series.h"
#include "story/site_story.h"

// story: what a recorded run means. Builds series out of `record`, has `keep` judge each process,
// and makes one verdict of it. All functions are pure.

namespace ebb::story {

/// One process of a run.
struct ProcessStory {
  std::size_t index = 0;  ///< in RecordedRun::processes
  record::Process process;
  std::string name;  ///< as it is told from the others
  keep::ProcessDiagnosis diagnosis;
  // Nothing where it was never looked at.
  std::optional<std::uint64_t> peak_rss;
  std::optional<std::uint64_t> steady_rss;  ///< median of the second half of its life
  std::optional<std::uint64_t> live;        ///< the last that is known
  std::optional<std::uint64_t> retained;    ///< likewise
  fact::Ledger ledger;                      ///< when `live` was last known; else at the end
  std::vector<fact::PrivateAllocator> private_allocators;
  keep::CleanupSum cleanups;
  std::uint64_t rounds = 0;  ///< as kept in the record
  std::uint64_t samples = 0;
};

/// How a run ended; `bad` says that it was not as it should be.
struct EndingText {
  std::string brief;  ///< "exit status 0", "out of memory", "running", …
  std::string text;   ///< with when and why
  bool bad = false;
};

struct RunStory {
  keep::ProcessDiagnosis diagnosis;  ///< of the run: that of the process it is about, and more
  std::optional<std::size_t>
      culprit;  ///< in `processes`; nothing where it is about none in particular
  std::vector<ProcessStory> processes;  ///< the largest first
  std::vector<Label> labels;            ///< of RecordedRun::processes
  TreeSeries tree;
  SitesStory sites;
  keep::CleanupSum cleanups;
  double cleanup_share = 0;  ///< of the run's time, 0 to 1
  EndingText ending;
  /// What the memory of its control group was when it was last looked at: of a run that was killed,
  /// stopped or cut short.
  std::optional<fact::MemorySplit> memory;
};

/// The whole story. Processes beyond the largest 32 are listed and not judged.
RunStory story_of(const record::RecordedRun& run);

/// How a run ended.
EndingText ending_of(const record::RunSummary& run);

/// The most that a run held.
struct Peak {
  std::optional<std::uint64_t> bytes;  ///< nothing where it ended before anybody had looked
  bool of_group = false;  ///< of its control group, as the kernel counted it, file cache included
  bool at_least = true;   ///< sampled: there may have been more in between
};
Peak peak_of(const record::RunSummary& run);

/// Of a run's or a process's highest memory: nothing has none, so 0 is that nobody looked.
std::optional<std::uint64_t> seen(std::uint64_t bytes);

/// "1.2 GiB", "at least 311.6 MiB", "-".
std::string text_of(const Peak& peak);

/// "4242 (train.py --epochs 3)".
std::string name_of(const ProcessStory& process);

/// A run, and all of a file as `ebb runs --json` lists them; docs/report.md has the keys.
base::Json to_json(const record::RunSummary& run);
base::Json runs_json(const std::string& path, const std::vector<record::RunSummary>& runs);

/// Doctor's shape with `run` and `process` beside it.
base::Json verdict_json(const record::RecordedRun& run, const RunStory& story);

/// verdict_json with `processes`, `cleanups` and `events`.
base::Json report_json(const record::RecordedRun& run, const RunStory& story);

}  // namespace ebb::story
