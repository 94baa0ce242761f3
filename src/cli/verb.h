// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace CLI {
class App;
}

// cli: the programs ebb and ebb-simulate. One file per verb, each with an add_… function: it reads
// options, calls the layers below and prints what show makes of their results.

namespace ebb::cli {

/// Exit statuses, the same for every verb.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kNotAvailable = 3;

/// What main runs once the command line is understood; set by the verb that was named.
using Action = std::function<int()>;

/// The exit status that goes with an error.
int status_of(base::Code code);

/// Prints one line on stderr and gives the exit status that goes with the error.
int complain(const base::Error& error);

void add_info(CLI::App& program, Action& action);
void add_env(CLI::App& program, Action& action);
void add_replay(CLI::App& program, Action& action);
void add_tune(CLI::App& program, Action& action);
/// `ebb tune -- COMMAND`: what stands behind the dashes cannot be told from a snapshot's name.
void add_tune_command(CLI::App& program, Action& action);
inline constexpr const char* kTuneCommand = "tune-command";
void add_doctor(CLI::App& program, Action& action);
void add_plan(CLI::App& program, Action& action);
void add_run(CLI::App& program, Action& action);
void add_watch(CLI::App& program, Action& action);
void add_report(CLI::App& program, Action& action);
void add_runs(CLI::App& program, Action& action);

// Of the program ebb-simulate.
void add_simulate(CLI::App& program, Action& action);
void add_compare(CLI::App& program, Action& action);
inline constexpr const char* kSimulateHelp =
    "Federated learning with many clients, simulated within a bounded memory";
inline constexpr const char* kCompareHelp =
    "Ways to choose clients, simulated on the same data, world and seeds";

}  // namespace ebb::cli
