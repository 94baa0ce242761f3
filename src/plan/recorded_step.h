// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "replay/job.h"

namespace ebb::plan {

/// One training step of a recorded job, in bytes as PyTorch's memory_allocated counts them: with
/// cuBLAS's workspaces, and with whatever else the job keeps on the device.
struct RecordedStep {
  std::string name;          ///< of the file
  std::size_t steps = 0;     ///< that were found in it
  std::uint64_t before = 0;  ///< the least during the step
  std::uint64_t peak = 0;
};

/// The last complete step of a snapshot of torch.cuda.memory._dump_snapshot, on the device with
/// most requests. Code::bad_input where the file is no such snapshot or no steps can be told apart.
base::Result<RecordedStep> read_recorded_step(const std::string& path,
                                              const trace::ReadOptions& options = {});
base::Result<RecordedStep> recorded_step(const trace::Snapshot& snapshot, const std::string& name);

/// What a recorded step says about plans: the planned part of a step is `scale` times as large as
/// planned, and `beside` bytes are there all the time.
struct Correction {
  RecordedStep recorded;
  std::uint64_t planned_before = 0;
  std::uint64_t planned_peak = 0;  ///< with cuBLAS's workspaces
  double scale = 1;
  std::int64_t beside = 0;

  /// By how much the recorded peak is above (or, negative, below) the planned one.
  double percent() const;
  /// Planned bytes of a moment, of a step that is planned to start with `before`, corrected.
  std::uint64_t applied(std::uint64_t before, std::uint64_t bytes) const;
};

/// `before` and `peak` as planned, without `workspaces`.
Correction correction_of(const RecordedStep& recorded, std::uint64_t before, std::uint64_t peak,
                         std::uint64_t workspaces);

}  // namespace ebb::plan
