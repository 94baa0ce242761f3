// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "run/trial.h"
#include "term/style.h"

namespace ebb::show {

/// A command under several settings, of which the first is the command as it is, and the line that
/// starts it under the best one. `best` is an index into `trials`.
struct Trials {
  std::vector<std::string> command;
  std::vector<run::Trial> trials;
  std::size_t best = 0;
};

std::string trials_text(const Trials& trials, const term::Style& style);
base::Json trials_json(const Trials& trials);

}  // namespace ebb::show
