// SPDX-License-Identifier: Apache-2.0
#include "wire/message.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ebb::wire {
namespace {

constexpr std::uint32_t kMagic = 0x0062'6265;  // "ebb"

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t kind = 0;
};

/// Kinds are the places of the variant.
template <std::size_t Kind>
base::Result<Message> decode_as(std::span<const std::byte> body) {
  using Record = std::variant_alternative_t<Kind, Message>;
  static_assert(std::is_trivially_copyable_v<Record>);
  static_assert(sizeof(Header) + sizeof(Record) <= kLongestRecord);
  if (body.size() != sizeof(Record)) {
    return base::error(base::Code::bad_input, "record of kind %zu has %zu bytes, expected %zu",
                       Kind, body.size(), sizeof(Record));
  }
  Record record;
  std::memcpy(&record, body.data(), sizeof record);
  if constexpr (requires { record.reason; }) {
    std::uint32_t reason = 0;
    std::memcpy(&reason, &record.reason, sizeof reason);
    if (reason >= kReasons)
      return base::error(base::Code::bad_input, "record with the unknown reason %u", reason);
  }
  if constexpr (requires { record.cost_seconds; }) {
    if (!std::isfinite(record.cost_seconds) || record.cost_seconds < 0)
      return base::error(base::Code::bad_input, "record with a cost that is no time");
  }
  return Message(record);
}

template <std::size_t... Kinds>
base::Result<Message> decode_kind(std::size_t kind, std::span<const std::byte> body,
                                  std::index_sequence<Kinds...>) {
  base::Result<Message> decoded =
      base::error(base::Code::bad_input, "record of the unknown kind %zu", kind);
  static_cast<void>(((kind == Kinds && (decoded = decode_as<Kinds>(body), true)) || ...));
  return decoded;
}

}  // namespace

const char* name_of(Reason reason) {
  switch (reason) {
    case Reason::round:
      return "round";
    case Reason::retained:
      return "retained";
    case Reason::growth:
      return "growth";
    case Reason::critical:
      return "critical";
    case Reason::pressure:
      return "pressure";
    case Reason::job:
      return "job";
  }
  return "unknown";
}

std::span<const std::byte> encode(const Message& message, Buffer& buffer) {
  Header header;
  header.kind = static_cast<std::uint16_t>(message.index());
  std::memcpy(buffer.data(), &header, sizeof header);
  return std::visit(
      [&](const auto& record) {
        std::memcpy(buffer.data() + sizeof header, &record, sizeof record);
        return std::span<const std::byte>(buffer.data(), sizeof header + sizeof record);
      },
      message);
}

base::Result<Message> decode(std::span<const std::byte> record) {
  Header header;
  if (record.size() < sizeof header)
    return base::error(base::Code::bad_input, "record of %zu bytes, too short", record.size());
  std::memcpy(&header, record.data(), sizeof header);
  if (header.magic != kMagic)
    return base::error(base::Code::bad_input, "record that is none of Ebb's");
  if (header.version != kVersion) {
    return base::error(base::Code::bad_input, "record of version %u, expected %u", header.version,
                       kVersion);
  }
  return decode_kind(header.kind, record.subspan(sizeof header),
                     std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace ebb::wire
