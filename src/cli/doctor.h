// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ebb::cli {

/// What `ebb doctor PID` was asked.
struct ProcessQuestion {
  std::string pid;
  std::string length = "15s";  ///< how long to observe
  std::string fail_on;
  bool json = false;
};

/// Whether doctor's subject is the number of a process, or of a run where a record is named:
/// nothing but digits.
bool names_a_process(const std::string& subject);

/// Observes a running process and prints its verdict. Gives the exit status.
int diagnose_process(const ProcessQuestion& question);

/// What `ebb doctor RUN` was asked.
struct RunQuestion {
  std::string run;
  std::string db;
  std::string fail_on;
  std::string html;
  bool json = false;
};

/// Whether doctor's subject is a recorded run: no process, no file, and not written like one.
bool names_a_run(const std::string& subject);

/// Prints the verdict of a recorded run. Gives the exit status.
int diagnose_run(const RunQuestion& question);

/// What `ebb doctor stats.json` was asked.
struct StatsQuestion {
  std::string file;
  std::string fail_on;
  bool json = false;
};

/// Prints the verdict on what torch.cuda.memory_stats() said. Gives the exit status.
int diagnose_stats(const StatsQuestion& question);

/// Prints what the memory of a control group is. Gives the exit status.
int diagnose_group(const std::string& path, bool json);

}  // namespace ebb::cli
