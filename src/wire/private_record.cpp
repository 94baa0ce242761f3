// SPDX-License-Identifier: Apache-2.0
#include "wire/private_record.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "wire/records.h"

namespace ebb::wire {
namespace {

static_assert(sizeof(PrivateRecord) == 120 && std::is_trivially_copyable_v<PrivateRecord>);

/// Names end up in tables and on terminals.
bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

PrivateRecord record_of(const fact::PrivateAllocator& allocator) {
  PrivateRecord record;
  record.kind = Text<16>(allocator.kind);
  record.library = Text<48>(allocator.library);
  record.prefix = Text<16>(allocator.prefix);
  record.controllable = allocator.controllable ? 1 : 0;
  record.known = (allocator.live ? kKnowsLive : 0) | (allocator.retained ? kKnowsRetained : 0);
  record.live = allocator.live.value_or(0);
  record.retained = allocator.retained.value_or(0);
  record.asked = allocator.asked;
  record.returned = allocator.returned;
  return record;
}

base::Result<fact::PrivateAllocator> fact_of(const PrivateRecord& record) {
  fact::PrivateAllocator allocator;
  allocator.kind = record.kind.view();
  allocator.library = record.library.view();
  allocator.prefix = record.prefix.view();
  allocator.controllable = record.controllable != 0;
  if ((record.known & kKnowsLive) != 0) allocator.live = record.live;
  if ((record.known & kKnowsRetained) != 0) allocator.retained = record.retained;
  allocator.asked = record.asked;
  allocator.returned = record.returned;
  const bool is_named = !allocator.kind.empty() && !allocator.library.empty() &&
                        is_plain(allocator.kind) && is_plain(allocator.library) &&
                        is_plain(allocator.prefix);
  // Figures that are not known, bits that mean nothing, bytes after the end of a text.
  const PrivateRecord again = record_of(allocator);
  const bool says_more = std::memcmp(&again, &record, sizeof record) != 0;
  if (is_named && !says_more && (record.asked > 0 || record.returned == 0)) return allocator;
  return base::error(base::Code::bad_input, "record of a private allocator that cannot be");
}

}  // namespace ebb::wire
