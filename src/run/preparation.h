// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "keep/job_environment.h"
#include "keep/settings.h"
#include "run/options.h"
#include "run/target.h"

namespace ebb::run {

/// A variable that the job starts with.
struct JobVariable {
  std::string name;
  std::string value;  ///< in full, with what stood there before
  std::string why;
};

/// Everything that is decided before the job starts.
struct Preparation {
  Target target;
  std::string agent;  ///< the shared object; empty where none is preloaded
  std::string sites;  ///< the folder of the tables of sites; empty where none are made
  std::vector<JobVariable> variables;
  std::vector<std::string> notes;  ///< what is not done, and why; one line each
};

/// Where the agent and the start-up hook of Python lie: beside this program, whether it was built,
/// installed or came with a Python package.
base::Result<std::string> agent_folder();

/// Decides. `socket` is where agents connect. Variables that the user has set stay as they are.
/// Code::bad_input and Code::unavailable for the allocator, as keep::job_environment_for().
base::Result<Preparation> prepare(const Options& options, const std::string& socket,
                                  const keep::Environment& environment = keep::process_environment);

/// The environment of this process with the job's variables in it, as NAME=VALUE.
std::vector<std::string> environment_with(const std::vector<JobVariable>& variables);

}  // namespace ebb::run
