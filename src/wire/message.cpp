// SPDX-License-Identifier: Apache-2.0
#include "wire/message.h"

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

/// What lies on the wire: the message itself, or the fixed record of a fact.
template <class Said>
auto fixed(const Said& said) {
  if constexpr (requires { record_of(said); }) {
    return record_of(said);
  } else {
    return said;
  }
}

/// Kinds are the places of the variant.
template <std::size_t Kind>
base::Result<Message> decode_as(std::span<const std::byte> body) {
  using Record = decltype(fixed(std::variant_alternative_t<Kind, Message>{}));
  static_assert(std::is_trivially_copyable_v<Record>);
  static_assert(sizeof(Header) + sizeof(Record) <= kLongestRecord);
  if (body.size() != sizeof(Record)) {
    return base::error(base::Code::bad_input, "record of kind %zu has %zu bytes, expected %zu",
                       Kind, body.size(), sizeof(Record));
  }
  Record record;
  std::memcpy(&record, body.data(), sizeof record);
  if constexpr (requires { fact_of(record); }) {
    const auto fact = fact_of(record);
    if (!fact) return fact.error();
    return Message(*fact);
  } else {
    if constexpr (requires { record.trigger; }) {
      if (const auto fine = check(record.trigger); !fine) return fine.error();
    }
    return Message(record);
  }
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

std::span<const std::byte> encode(const Message& message, Buffer& buffer) {
  Header header;
  header.kind = static_cast<std::uint16_t>(message.index());
  std::memcpy(buffer.data(), &header, sizeof header);
  return std::visit(
      [&](const auto& said) {
        const auto record = fixed(said);
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
