// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fact/card.h"
#include "fact/cleanup.h"
#include "fact/death.h"
#include "fact/group_memory.h"
#include "fact/mapped_parts.h"
#include "fact/private_allocator.h"
#include "fact/process_sample.h"
#include "fact/run_end.h"
#include "fact/site.h"

// record: runs on disk. What a supervisor saw of a job, second by second, in one SQLite file for
// many runs; bounded in size however long they last. docs/record.md has the schema.

namespace ebb::record {

/// A job that was run once. Times of everything below it are seconds since it started, on a clock
/// that never jumps.
struct Run {
  std::int64_t id = 0;               ///< given by the store
  std::string name;                  ///< need not be unique
  std::vector<std::string> command;  ///< secrets in it are hidden before it is written
  bool is_private = false;  ///< of commands, also of its processes, only the program is written
  std::string role;         ///< "" where none was given
  std::string allocator;    ///< the one that was asked for; "" where none was
  std::string host;
  std::string version;          ///< of Ebb
  double started = 0;           ///< unix seconds
  std::optional<double> ended;  ///< unix seconds; none: still running, or the supervisor was killed
  std::optional<int> exit_code;
  std::optional<int> signal;  ///< that killed the command
  fact::RunEnd ending = fact::RunEnd::unknown;
  std::optional<fact::Death> death{};  ///< why, where it did not end by itself
  double interval = 1;                 ///< seconds between samples
  std::uint64_t limit = 0;             ///< bytes the job may use, at the start; 0 unknown
  /// The most that its control group ever held, file cache included, where the group is its own.
  std::optional<std::uint64_t> peak_group;
};

/// A pid is used again, a pid with its start time is not.
struct ProcessKey {
  std::int32_t pid = 0;
  std::uint64_t start = 0;  ///< start time in ticks since boot

  auto operator<=>(const ProcessKey&) const = default;
};

struct Process {
  std::int32_t pid = 0;
  std::uint64_t start = 0;
  std::int32_t parent = 0;
  std::string command;
  std::string allocator;  ///< as detected; "" unknown
  bool agent = false;     ///< it reports live and retained bytes itself
  double seconds = 0;     ///< when it was first seen
  std::optional<double> ended;
  std::optional<std::uint64_t> peak_rss;  ///< the kernel's own, when it was last looked at

  ProcessKey key() const { return {pid, start}; }
};

/// One process at one moment.
struct Sample {
  ProcessKey process;
  double seconds = 0;
  fact::ProcessSample memory;
  std::optional<std::uint64_t> peak_rss;  ///< the highest so far, as the kernel keeps it
  std::uint64_t minor_faults = 0;         ///< since the process started
  double cpu_seconds = 0;                 ///< since the process started
};

/// Where the job runs (its control group, or the machine) at one moment.
struct PlaceSample {
  double seconds = 0;
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
  double percent = 0;
  std::optional<double> pressure_some;  ///< percent of the last ten seconds
  std::optional<std::uint64_t> gpu_used;
  std::optional<std::uint64_t> gpu_total;
  std::optional<std::uint64_t> file_cache;
  fact::GroupMemory group{};  ///< of the control group that limits, if one does
};

/// The end of a round that a process announced.
struct Round {
  ProcessKey process;
  double seconds = 0;
  std::uint64_t number = 0;
};

/// Something that was done about memory: a cleanup.
struct Action {
  ProcessKey process;
  double seconds = 0;  ///< when; the cleanup's own are what it took
  fact::Cleanup cleanup;
  std::uint64_t count =
      1;  ///< more where old ones were merged: what they returned and took is summed
};

/// An allocator of a library's own in a process, as last known.
struct Beside {
  ProcessKey process;
  double seconds = 0;
  fact::PrivateAllocator allocator;
};

/// A card at one moment, as the machine tells it, by NVML's numbers, or as a process does, by its
/// own. The last of each is kept.
struct DeviceSample {
  std::optional<ProcessKey> process;  ///< nothing: the machine
  double seconds = 0;
  fact::CardSample card;
};

/// What was read of a process's mappings at one moment. The last of each is kept.
struct Mapped {
  ProcessKey process;
  double seconds = 0;
  fact::MappedParts parts;
};

/// What sampling in a process had come to at one moment.
struct Sampling {
  ProcessKey process;
  double seconds = 0;
  std::uint64_t bytes = 0;      ///< live, of all sites together, as estimated
  std::uint64_t samples = 0;    ///< ever taken
  std::uint64_t dropped = 0;    ///< of them, for which there was no room
  std::uint64_t no_python = 0;  ///< taken in an interpreter whose frames are not read
  double spent_seconds = 0;
};

/// What one of its sites held at that moment. Sites are numbered within their process.
struct Site {
  ProcessKey process;
  double seconds = 0;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;    ///< as estimated
  std::uint64_t error = 0;    ///< standard error of that
  std::uint64_t samples = 0;  ///< live ones
};

/// What a site is.
struct SiteName {
  ProcessKey process;
  double seconds = 0;
  std::uint32_t number = 0;
  fact::SiteStack frames;
};

/// What a run of the simulator simulates.
struct Simulation {
  std::string sweep;        ///< the same of all simulations that are to be compared
  std::uint32_t part = 0;   ///< its place among them, from 0
  std::uint32_t parts = 1;  ///< how many there are to be
  std::string about;        ///< JSON: its configuration, and what the untrained model can do
};

/// A round of it that has ended.
struct SimulatedRound {
  std::uint64_t number = 0;
  std::string json;  ///< what it came to
};

/// Kinds of events that are more than a line of text.
enum class EventKind : std::uint8_t {
  silent,    ///< the agent of its process owes an answer
  named,     ///< the text is what its process calls itself
  marker,    ///< the text is an RSS marker of its process
  oom_kill,  ///< the kernel killed a process because memory ran out
  no_room,   ///< the text begins with how many processes have had no room for a table of sites
};
/// As a record has it.
const char* name_of(EventKind kind);

struct Event {
  double seconds = 0;
  /// "warn", "critical", "normal", "stop", "oom_kill", "agent", "silent", "recording", …
  std::string kind;
  std::string text;
  std::optional<ProcessKey> process;

  bool is(EventKind what) const { return kind == name_of(what); }
};

}  // namespace ebb::record
