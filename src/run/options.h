// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "keep/card_policy.h"
#include "keep/role.h"
#include "sense/memory_info.h"

// run: the supervisor. Starts any program with its memory managed: environment, agent, readings,
// cleanups, thresholds, the record.

namespace ebb::run {

/// What to do when a cleanup did not help.
enum class OnCritical : std::uint8_t {
  clean,  ///< go on cleaning up
  stop,   ///< end the job in order, before the machine freezes
};

/// Whether allocations are sampled: which lines of code hold the memory.
enum class Sites : std::uint8_t {
  no,
  where_possible,  ///< where they cannot be, nothing is said but in the record
  asked_for,       ///< where they cannot be, a line says why
};

/// What `ebb run` was asked for.
struct Options {
  std::vector<std::string> command;  ///< at least one word
  std::optional<keep::Role> role;
  std::string allocator = "keep";  ///< or the name of one to start the job on
  sense::MemoryThresholds thresholds;
  OnCritical on_critical = OnCritical::clean;
  keep::CardBounds cards;
  std::string card_options;   ///< those about cards that were given; for a line
  double grace_seconds = 10;  ///< between TERM and KILL when the job is stopped
  double interval_seconds = 1;
  std::string name;         ///< of the run; the command's own where empty
  std::string record_path;  ///< empty: nothing is recorded
  bool manage = true;       ///< false: watch and record only; no agent, no environment
  bool nvflare = false;     ///< in NVFlare's processes, results go once they are processed
  Sites sites = Sites::no;
  bool objects = false;       ///< Python's small objects are sampled one by one
  bool wait_for_all = false;  ///< supervise until the last process has ended, not only the command
  bool is_private = false;    ///< of commands the record has the program alone
  bool quiet = false;         ///< no line on stderr but for errors
  bool silent = false;        ///< the command's own input and output are /dev/null
};

}  // namespace ebb::run
