// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fact/private_allocator.h"
#include "fact/process_sample.h"
#include "keep/card_policy.h"
#include "keep/cleanup_policy.h"
#include "record/model.h"
#include "run/answer_watch.h"
#include "sense/mapping_sums.h"
#include "sense/process.h"
#include "wire/channel.h"

namespace ebb::run {

/// One process of the job, as the supervisor knows it. Seconds are since the run began.
struct Member {
  record::Process about;
  sense::ProcessReading reading;  ///< the last one
  /// pss, live and retained are read at times of their own: what came since the last sample goes
  /// into the next.
  fact::ProcessSample for_next_sample;

  // The agent in it, once it has said hello.
  std::optional<wire::Channel> channel;
  keep::CleanupPolicy policy;
  keep::CardPolicy cards;
  /// The round whose end it was asked for its cards at; nothing where only samples are taken.
  std::optional<std::uint64_t> card_round;
  double cards_asked = 0;  ///< when
  double next_cards = 0;   ///< when to ask again, for a sample
  AnswerWatch answers;
  /// Allocators of libraries' own in it, as the agent last said.
  std::vector<fact::PrivateAllocator> beside;
  double agent_since = 0;
  double last_read = 0;
  double next_read = 0;            // not before, for what it costs
  sense::StackPointers stacks;     ///< of its threads, as far as they were seen to wait
  double next_mappings = 0;        // when its mappings are read
  double next_look_for_agent = 1;  ///< at this age: one that is over sooner is not worth a word
  std::optional<std::uint64_t> python_arenas;  ///< as its agent last said
  wire::Language language = wire::Language::none;
  bool is_controllable = false;
  bool awaits_reading = false;   ///< one was asked for and has not arrived
  bool awaits_cleanup = false;   ///< one was asked for and has not been reported
  bool awaits_cards = false;     ///< the same of its cards
  bool awaits_emptying = false;  ///< and of their caches

  // What was said of it where something is missing.
  bool is_named_without_agent = false;
  bool is_named_without_hook = false;
  bool is_emptying_told = false;  ///< that its caches were emptied: the first time is enough

  bool has_children = false;  ///< or had

  int told = 0;                 ///< the signal that it was last sent to stop it
  bool cannot_be_told = false;  ///< it runs with other rights than ours

  record::ProcessKey key() const { return about.key(); }
  /// Seconds on the policy's clock.
  double age(double seconds) const { return seconds - agent_since; }
};

/// Whether a cleanup in it may bring back memory beside malloc.
bool can_give_back_beside(const Member& member);

/// The command line of a process without its secrets, cut to what fits a table; its name where it
/// has none.
std::string command_of(pid_t pid);

}  // namespace ebb::run
