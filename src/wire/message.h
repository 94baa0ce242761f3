// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/result.h"
#include "fact/cleanup.h"
#include "wire/private_record.h"
#include "wire/records.h"
#include "wire/text.h"

// wire: what the agent inside a job and the supervisor outside it say to each other.

namespace ebb::wire {

/// Both sides come from one build or refuse each other: records are fixed, nothing is negotiated.
inline constexpr std::uint16_t kVersion = 9;

// From the agent. It also says a Reading or Cards when asked, and a fact::Cleanup when it has
// cleaned up or the job has; before a Reading or a Cleanup, a fact::PrivateAllocator for each of
// which it has news.

/// The first thing an agent says; who it is the kernel says (SO_PEERCRED). The last three are for a
/// process that is gone when its hello is read.
struct Hello {
  Text<16> allocator;
  Text<48> allocator_version;
  std::uint32_t controllable = 0;
  std::int32_t parent = 0;
  std::uint64_t start = 0;  ///< in ticks since boot
  Text<48> program;
};

/// The job finished a round.
struct Round {
  std::uint64_t number = 0;
};

/// What the job calls this process.
struct Name {
  Text<48> name;
};

/// A line of the job's about its own memory, for the record: an RSS marker.
struct Marker {
  Text<240> line;
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

/// Asks for Cards.
struct ReadCards {
  std::uint32_t unused = 0;
};

/// Asks for a cleanup; answered with a fact::Cleanup. For Trigger::card nothing but device caches
/// is given back.
struct Clean {
  fact::Trigger trigger = fact::Trigger::retained;
  std::uint32_t collect = 0;        ///< also run collectors and caches of the job's language
  std::uint32_t device_caches = 0;  ///< also give back what frameworks keep on devices
  std::uint32_t pressure = 0;       ///< as in Read
};

using Message = std::variant<Hello, Reading, Round, fact::Cleanup, Read, Clean, Left,
                             fact::PrivateAllocator, Name, Marker, ReadCards, Cards>;

/// As long as the longest record.
inline constexpr std::size_t kLongestRecord = 464;
using Buffer = std::array<std::byte, kLongestRecord>;

/// Writes a record and returns the part of `buffer` that it takes. Allocates nothing.
std::span<const std::byte> encode(const Message& message, Buffer& buffer);

/// Reads a record that nobody vouches for: Code::bad_input for another version, an unknown kind, a
/// wrong length or a value that cannot be.
base::Result<Message> decode(std::span<const std::byte> record);

}  // namespace ebb::wire
