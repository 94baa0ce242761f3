// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// agent: the small shared object inside a managed job. One sleeping thread that reads the heap and
// cleans up when the supervisor asks; no call of malloc is intercepted. It may be preloaded into
// any program, so nothing here throws, prints or waits on behalf of the job.
//
// What it exports is for code of ours in the same process, which looks the names up (dlsym) and
// does without where they are not there: libebb and the start-up hook of Python. Everything is
// thread-safe.

extern "C" {

/// 1 while a supervisor is connected.
int ebb_agent_is_supervised();

/// The job finished a round: told to the supervisor, which may ask for a cleanup.
void ebb_agent_round_done(std::uint64_t number);

/// What the job calls this process, for tables; told to the supervisor.
void ebb_agent_name(const char* name);

/// A line of the job's about its own memory (an RSS marker), for the record of the run.
void ebb_agent_marked(const char* line);

/// Reports a cleanup that the job did by itself (a wire::CleanupRecord).
void ebb_agent_cleaned(const void* cleaned);

/// From now on `clean(wire::Clean, wire::CleanupRecord)` does the cleanups in this process: libebb,
/// whose hooks then take part. It stays for the life of the process. The first one wins.
void ebb_agent_set_cleaner(void (*clean)(const void* ask, void* cleaned));

/// 1 for the first who asks, who then serves collections; 0 for all others.
int ebb_agent_begin_collections();

/// Waits until a cleanup wants the job's language to collect its garbage and returns what is wanted
/// (bit 0 garbage, bit 1 device caches, bit 2 pools of libraries; bit 3: to be told of devices), or
/// 0 when the agent is of no use any more. Each answer is followed by a call of
/// ebb_agent_collected().
std::uint32_t ebb_agent_await_collection();
void ebb_agent_collected();
/// The language is about to end: whoever waits is sent home, and nobody is asked any more.
void ebb_agent_end_collections();

/// From whoever serves a collection: what it gave back of a device's memory, by the bytes that this
/// process held of it before and after.
void ebb_agent_device(std::uint32_t device, std::uint64_t before, std::uint64_t after);

/// From whoever is to tell of devices: one that this process holds memory of, what is free of it,
/// what the language's allocator holds and how much of that is in no use; what is allocated of it,
/// and what of the unused is pieces beside memory in use (the largest number: not known).
void ebb_agent_device_memory(std::uint32_t device, std::uint64_t total, std::uint64_t free,
                             std::uint64_t reserved, std::uint64_t cached, std::uint64_t live,
                             std::uint64_t inactive);

/// A framework was loaded whose threads take turns: 1 where they share malloc's arenas from now on
/// (Agent::share_arenas).
int ebb_agent_share_arenas();

/// An interpreter of Python has just started: its arenas are counted from now on
/// (agent::count_python_arenas). To be called with its lock held; 1 where that was done.
int ebb_agent_count_arenas();

/// libebb has one thread more (1) or less (-1) that waits by itself: says that thread. Where only
/// such threads are left, the process is over.
void ebb_agent_count_thread(int by);

/// libebb lost this process in a fork (base::fork_lost): the agent says so to the supervisor and
/// does nothing from now on.
void ebb_agent_leave();

}  // extern "C"
