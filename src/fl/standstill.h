// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fl/address_space.h"
#include "sense/process.h"

namespace ebb::fl {

/// Whether a trial of one step (check_address_space) takes time without getting anywhere. One that
/// is close to a limit, and maps and touches nothing new, does not get what it asks for, again and
/// again, if it is in the kernel for more than a second, and for more than it computes. It waits
/// for threads that could not start if it sleeps for more than two. A step that only takes its time
/// does neither.
class Standstill {
 public:
  /// Each reading in turn, `seconds` after the start; `limits`: the trial's own, RLIM_INFINITY
  /// where there is none.
  bool lasts(const sense::ProcessReading& now, double seconds, const Mappings& limits);

 private:
  Mappings peak_;
  sense::ProcessReading since_;  ///< when it moved last
  double cpu_ = 0;
  double asleep_since_ = 0;
};

}  // namespace ebb::fl
