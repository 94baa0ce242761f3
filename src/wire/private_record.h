// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "fact/private_allocator.h"
#include "wire/text.h"

namespace ebb::wire {

/// How a private allocator lies on the wire; `known` as in records.h. Long names are cut off.
struct PrivateRecord {
  Text<16> kind;
  Text<48> library;
  Text<16> prefix;
  std::uint32_t controllable = 0;
  std::uint32_t known = 0;
  std::uint64_t live = 0;
  std::uint64_t retained = 0;
  std::uint64_t asked = 0;
  std::uint64_t returned = 0;
};

PrivateRecord record_of(const fact::PrivateAllocator& allocator);

/// Nobody vouches for it: Code::bad_input for values that cannot be, and for names that are not
/// plain text.
base::Result<fact::PrivateAllocator> fact_of(const PrivateRecord& record);

}  // namespace ebb::wire
