// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/snapshot_file.h"

namespace ebb::cli {

/// What `ebb doctor` was asked, whatever its subject is.
struct DoctorOptions {
  std::string subject;
  std::string against;
  std::string fail_on;
  std::string length = "15s";  ///< how long to observe a process
  std::string db;
  std::string cgroup;
  std::string pprof;
  std::string collapsed;
  SnapshotOptions shared;

  bool asks_for_sites() const { return !pprof.empty() || !collapsed.empty(); }
};
base::Options options_of(DoctorOptions& o);

/// Whether doctor's subject is the number of a process, or of a run where a record is named:
/// nothing but digits.
bool names_a_process(const std::string& subject);

/// Whether doctor's subject is a recorded run: no process, no file, and not written like one.
bool names_a_run(const std::string& subject);

// Each gives the exit status.

/// Observes a running process and prints its verdict.
int diagnose_process(const DoctorOptions& options);

/// Prints the verdict of a recorded run.
int diagnose_run(const DoctorOptions& options);

/// Prints the verdict on what torch.cuda.memory_stats() said.
int diagnose_stats(const DoctorOptions& options);

/// Prints what the memory of a control group is.
int diagnose_group(const std::string& path, bool json);

}  // namespace ebb::cli
