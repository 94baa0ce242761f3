// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "fact/card.h"
#include "fact/cleanup.h"
#include "fact/process_sample.h"

namespace ebb::wire {

// How facts lie on the wire, and between libebb and the agent of one process: fixed records whose
// layout never changes within a version. What is not known is zero, with no bit in `known`; an rss
// of zero is one that could not be read.

/// Bits of `known`: which figures the allocator could tell.
inline constexpr std::uint32_t kKnowsLive = 1;
inline constexpr std::uint32_t kKnowsRetained = 2;
inline constexpr std::uint32_t kKnowsPython = 4;  ///< of a reading

/// The job's language, whose garbage can take part in cleanups.
enum class Language : std::uint16_t { none, python_without_hook, python };
inline constexpr std::uint16_t kLanguages = 3;

/// What an agent read of its process, and the CPU time that it took.
struct Reading {
  fact::ProcessSample memory;  ///< rss, live and retained
  /// Mapped by Python for small objects, since it started.
  std::optional<std::uint64_t> python_arenas{};
  Language language = Language::none;
  bool shares_arenas = false;  ///< for the job's sake, see Agent::share_arenas
  bool uses_cuda = false;      ///< and has a hook that can tell what it holds of cards
  double cost_seconds = 0;
};

struct ReadingRecord {
  std::uint32_t known = 0;
  Language language = Language::none;
  std::uint16_t shares_arenas = 0;
  std::uint64_t rss = 0;
  std::uint64_t live = 0;
  std::uint64_t retained = 0;
  double cost_seconds = 0;
  std::uint64_t uses_cuda = 0;
  std::uint64_t python_arenas = 0;
};

/// What a record says of a device.
struct DeviceRecord {
  std::uint64_t device = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

/// Of more devices than a machine has the first ones are told.
inline constexpr std::size_t kMostDevices = 8;

struct CleanupRecord {
  fact::Trigger trigger = fact::Trigger::job;
  std::uint32_t known = 0;  ///< about the figures after it
  std::uint32_t deep = 0;
  std::uint32_t missed_garbage = 0;
  std::uint64_t rss_before = 0;
  std::uint64_t rss_after = 0;
  std::uint64_t live_after = 0;
  std::uint64_t retained_after = 0;
  std::uint64_t returned = 0;
  double seconds = 0;
  std::uint64_t devices = 0;  ///< how many of these are said something of
  std::array<DeviceRecord, kMostDevices> device{};
};

/// The triggers that a record may name: the first ones.
inline constexpr std::uint32_t kTriggers = 7;

/// The cards that the job's language holds memory of in a process, by its own numbers.
struct Cards {
  std::vector<fact::CardSample> cards{};

  bool operator==(const Cards&) const = default;
};

/// Instead of what is not known of a card.
inline constexpr std::uint64_t kNotKnown = UINT64_MAX;

struct CardRecord {
  std::uint64_t index = 0;
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t reserved = 0;
  std::uint64_t cached = 0;
  std::uint64_t live = 0;
  std::uint64_t inactive = 0;
};

struct CardsRecord {
  std::uint64_t cards = 0;  ///< how many of these are said something of
  std::array<CardRecord, kMostDevices> card{};
};

ReadingRecord record_of(const Reading& reading);
CleanupRecord record_of(const fact::Cleanup& cleanup);
CardsRecord record_of(const Cards& cards);

// Nobody vouches for a record: Code::bad_input for values that cannot be.
base::Status check(fact::Trigger trigger);
base::Result<Reading> fact_of(const ReadingRecord& record);
base::Result<fact::Cleanup> fact_of(const CleanupRecord& record);
base::Result<Cards> fact_of(const CardsRecord& record);

}  // namespace ebb::wire
