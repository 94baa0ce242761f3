// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace ebb::sense {

/// What the kernel wrote into its log when it killed a process because memory ran out.
struct OomReport {
  bool of_machine = false;             ///< the machine was full, no control group
  std::string full_group;              ///< that was full, by its path from the root of all groups
  std::string task_group;              ///< of the process that was killed
  std::string task;                    ///< its name
  pid_t pid = 0;                       ///< its number in the first pid namespace of the machine
  std::optional<std::uint64_t> usage;  ///< of the full group at that moment, in bytes
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> kernel;  ///< the kernel's own for it (v1)
  std::string stats;  ///< memory.stat of the full group at that moment; "" where it was not written
};

/// The kernel's log from now on. Where this process may not read it, nothing is ever found. Reading
/// does not wait. Not thread-safe.
class KernelLog {
 public:
  /// From its present end.
  static KernelLog from_now(const std::string& file = "/dev/kmsg");

  bool is_open() const { return file_.is_open(); }

  /// The reports since the last time; of a log that ran over, those that are left.
  std::vector<OomReport> take_reports();

 private:
  base::FileDescriptor file_;
};

/// Puts reports together out of records as /dev/kmsg gives them, one at a time: "6,339,5140900,-;
/// text". Only the kernel's own count: others may write there too.
class OomReportReader {
 public:
  void take(std::string_view record);
  std::vector<OomReport> take_reports();

 private:
  void take_line(std::string_view line);
  void take_stats(std::string_view text);

  OomReport next_;
  bool in_stats_ = false;
  std::vector<OomReport> done_;
};

}  // namespace ebb::sense
