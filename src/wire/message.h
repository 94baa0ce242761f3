// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>

#include "base/result.h"

// wire: what the agent inside a job and the supervisor outside it say to each other.

namespace ebb::wire {

/// Both sides come from one build or refuse each other: records are fixed, nothing is negotiated.
inline constexpr std::uint16_t kVersion = 1;

/// Why a cleanup happens.
enum class Reason : std::uint32_t {
  round,     ///< the job announced the end of a round
  retained,  ///< the allocator kept much, for a while
  growth,    ///< rss grew where nobody can tell what is retained
  critical,  ///< memory is at the critical threshold
  pressure,  ///< tasks stood still for want of memory
  job,       ///< the job asked for it itself
};
inline constexpr std::uint32_t kReasons = 6;

/// "round", "retained", …
const char* name_of(Reason reason);

/// Bits of `known`: which figures the allocator could tell.
inline constexpr std::uint32_t kKnowsLive = 1;
inline constexpr std::uint32_t kKnowsRetained = 2;

/// A short text in a fixed place; what does not fit is cut off.
template <std::size_t Size>
struct Text {
  std::array<char, Size> bytes{};

  Text() = default;
  explicit Text(std::string_view text) { text.copy(bytes.data(), Size - 1); }
  std::string_view view() const { return {bytes.data(), ::strnlen(bytes.data(), Size)}; }
};

// From the agent.

/// The first thing an agent says; who it is the kernel says (SO_PEERCRED).
struct Hello {
  Text<16> allocator;
  Text<48> allocator_version;
  std::uint32_t controllable = 0;
};

/// What the allocator holds now.
struct Reading {
  std::uint32_t known = 0;
  std::uint32_t unused = 0;
  std::uint64_t rss = 0;
  std::uint64_t live = 0;
  std::uint64_t retained = 0;
  double cost_seconds = 0;  ///< CPU time
};

/// The job finished a round.
struct Round {
  std::uint64_t number = 0;
};

/// A cleanup was done.
struct Cleaned {
  Reason reason = Reason::job;
  std::uint32_t known = 0;  ///< about the figures after it
  std::uint32_t deep = 0;
  std::uint32_t unused = 0;
  std::uint64_t rss_before = 0;
  std::uint64_t rss_after = 0;
  std::uint64_t live_after = 0;
  std::uint64_t retained_after = 0;
  std::uint64_t returned = 0;
  double cost_seconds = 0;  ///< CPU time of whoever cleaned
};

/// Said instead of Hello: this process was forked at a moment at which Ebb's locks could not be
/// had, and runs without Ebb. Nothing follows.
struct Left {
  std::uint32_t unused = 0;
};

// From the supervisor.

/// Asks for a Reading.
struct Read {
  std::uint32_t pressure = 0;  ///< 1: from now on freed memory goes back at once; 0 ends it
};

/// Asks for a cleanup; answered with Cleaned.
struct Clean {
  Reason reason = Reason::retained;
  std::uint32_t collect = 0;        ///< also run collectors and caches of the job's language
  std::uint32_t device_caches = 0;  ///< also give back what frameworks keep on devices
  std::uint32_t pressure = 0;       ///< as in Read
};

using Message = std::variant<Hello, Reading, Round, Cleaned, Read, Clean, Left>;

/// As long as the longest record.
inline constexpr std::size_t kLongestRecord = 128;
using Buffer = std::array<std::byte, kLongestRecord>;

/// Writes a record and returns the part of `buffer` that it takes. Allocates nothing.
std::span<const std::byte> encode(const Message& message, Buffer& buffer);

/// Reads a record that nobody vouches for: Code::bad_input for another version, an unknown kind, a
/// wrong length or a value that cannot be. Allocates nothing on success.
base::Result<Message> decode(std::span<const std::byte> record);

}  // namespace ebb::wire
