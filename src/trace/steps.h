// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/snapshot.h"

namespace ebb::trace {

/// The repeated steps (iterations, rounds, epochs) of the program behind a trace. What is live when
/// one begins can be compared with what is live when the next one does.
struct Steps {
  enum class Source : std::uint8_t {
    none,           ///< nothing repeats; `note` says why not
    annotations,    ///< named ranges of the program
    request_sizes,  ///< the same sizes asked for in the same order
  };
  Source source = Source::none;
  std::string name;  ///< of the range, without its number; empty unless from annotations
  std::vector<std::size_t> begins;  ///< the index of each step's first event; at least three
  std::string note;                 ///< one line on how they were found, or why none was
};

/// Finds the steps in the trace of `device`: by the profiler's own ranges (`ProfilerStep#7`), else
/// by the outermost range that repeats, else by a repeating pattern of request sizes. Steps at the
/// edges may be incomplete.
Steps find_steps(const Snapshot& snapshot, std::size_t device);

}  // namespace ebb::trace
