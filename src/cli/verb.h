// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "cli/program.h"

// cli: the programs ebb and ebb-simulate. One file per verb, each with an add_… function: it
// describes its options as data, calls the layers below and prints what show makes of their
// results.

namespace ebb::cli {

/// Exit statuses, the same for every verb.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kNotAvailable = 3;

/// The exit status that goes with an error.
int status_of(base::Code code);

/// Prints one line on stderr, as a terminal shows and does not obey it.
void say(const std::string& line);
/// The same beside a job that is supervised: a reader that does not read is not waited for.
void say_now(const std::string& line);

/// Says what went wrong and gives the exit status that goes with it.
int complain(const base::Error& error);

void add_info(Verb program);
void add_env(Verb program);
void add_replay(Verb program);
void add_tune(Verb program);
/// `ebb tune -- COMMAND`: what stands behind the dashes cannot be told from a snapshot's name.
void add_tune_command(Verb program);
inline constexpr const char* kTuneCommand = "tune-command";
void add_doctor(Verb program);
void add_plan(Verb program);
void add_run(Verb program);
void add_watch(Verb program);
void add_report(Verb program);
void add_runs(Verb program);
void add_serve(Verb program);

}  // namespace ebb::cli
