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

/// Whether doctor's subject is a process: nothing but digits.
bool names_a_process(const std::string& subject);

/// Observes a running process and prints its verdict. Gives the exit status.
int diagnose_process(const ProcessQuestion& question);

}  // namespace ebb::cli
