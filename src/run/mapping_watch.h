// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::run {

/// When to read the mappings of the job's processes, which tell parts of their memory that no
/// counter has. The reading walks all pages of a process: often while it is young, so that one that
/// is over soon was read, later once a minute, and never more than a bounded share of the time in
/// all, but for a first allowance. Seconds are since the run began. Not thread-safe.
class MappingWatch {
 public:
  /// What a process of `age` seconds is read at next, once it was read.
  static double next(double seconds, double age);
  /// One that came now: what it is about to hold, it does not hold yet.
  static double first(double seconds);

  bool may_read(double seconds) const;
  /// A reading took `cost` seconds of processor time.
  void took(double seconds, double cost);

 private:
  double spent_ = 0;
  double rests_until_ = 0;
};

}  // namespace ebb::run
