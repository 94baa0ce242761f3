// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "record/model.h"
#include "record/thinning.h"

namespace ebb::record {

/// Writes one run, on a thread of its own: no call waits for the disk, and a disk that is full or a
/// database that stays locked costs samples, never the job. What was added is on disk a second
/// later. While it cannot be written, the newest 20,000 samples are kept for when it can.
/// Thread-safe.
class Writer {
 public:
  /// Makes the file and the folders above it where they are missing. Waits at most five seconds; an
  /// error means that nothing will be recorded.
  static base::Result<std::unique_ptr<Writer>> begin(const std::string& path, const Run& run,
                                                     const FileBounds& bounds = {});

  /// Without end() before it, the run has no ending in the record.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Another one only where the file was removed meanwhile and somebody else took the number.
  std::int64_t run_id() const;

  /// A process that was added before is updated. What names a process that was never added makes it
  /// known by its key.
  void add(Process process);
  void add(Sample sample);
  void add(PlaceSample place);
  void add(Round round);
  void add(Action action);
  void add(Event event);
  /// The last of each library and process counts.
  void add(Beside beside);
  void add(DeviceSample device);
  void add(Mapped mapped);
  void add(Sampling sampling);
  void add(Site site);
  void add(SiteName name);
  /// The last one counts.
  void add(Simulation simulation);
  void add(SimulatedRound round);
  void process_ended(ProcessKey process, double seconds);

  /// Why nothing is recorded any more, or what was lost; each trouble is told once. Empty where all
  /// is well.
  std::string take_trouble();

  /// Takes ended, exit_code, signal and ending from `run`, writes what is left, and waits for that
  /// at most five seconds. Nothing can be added afterwards.
  void end(const Run& run);

 private:
  class Thread;

  explicit Writer(std::shared_ptr<Thread> thread);

  /// Shared with the thread itself, which outlives a Writer that could not wait for the disk.
  std::shared_ptr<Thread> thread_;
};

}  // namespace ebb::record
