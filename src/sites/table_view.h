// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::sites {

/// A file that was mapped into the process with code in it.
struct Module {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bias = 0;
  std::string path;
};

struct PythonFrame {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
};

/// A stack as it was read in the job.
struct RawStack {
  std::vector<std::uint64_t> native;  ///< return addresses, innermost first
  std::vector<PythonFrame> python;
  bool is_joined = false;  ///< `native` ends where the interpreter's loop begins
};

/// What is live of one stack.
struct LiveSite {
  std::uint64_t bytes = 0;    ///< as estimated from its samples
  double error = 0;           ///< standard error of that
  std::uint64_t samples = 0;  ///< live ones
};

/// The table of a process as it stood at one moment, or when the process ended.
struct TableView {
  std::uint64_t pid = 0;
  std::uint64_t began_ns = 0;  ///< of the monotonic clock
  std::uint64_t last_ns = 0;   ///< the same, of the newest sample
  std::uint64_t room = 0;      ///< bytes that it takes of what the run's tables may
  std::uint64_t samples = 0;   ///< ever taken
  std::uint64_t dropped = 0;   ///< of them, for which there was no room
  /// Taken in an interpreter whose frames are not read: all, where nobody began to, as in a
  /// free-threaded build or without the start-up hook.
  std::uint64_t no_python = 0;
  double spent_seconds = 0;                 ///< in sampling
  std::uint64_t distance = 0;               ///< bytes between samples, as it is now
  std::map<std::uint32_t, LiveSite> sites;  ///< by the stack's number in the file; 0: not known

  /// Reads a file, which may be written to at the same time by a process that nobody trusts: every
  /// offset in it is checked. Code::bad_input where it is none of ours, or not ready.
  static base::Result<TableView> read(const std::string& path);
};

/// Stacks and modules of the same file; these never change once they are there.
class StackReader {
 public:
  static base::Result<StackReader> open(const std::string& path);

  /// Empty where there is no such stack.
  RawStack stack(std::uint32_t number) const;
  /// The newest first.
  std::vector<Module> modules() const;

 private:
  explicit StackReader(std::string data) : data_(std::move(data)) {}
  std::string record(std::uint64_t offset) const;

  std::string data_;  ///< of the file, from its beginning
};

}  // namespace ebb::sites
