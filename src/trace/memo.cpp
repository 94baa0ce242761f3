// SPDX-License-Identifier: Apache-2.0
#include "trace/memo.h"

namespace ebb::trace {

std::uint32_t Memo::code_of(const Value& value) {
  switch (value.kind) {
    case ValueKind::text:
      return code(text, value.first());
    case ValueKind::frame:
      return code(frame, value.first());
    case ValueKind::pair:
      return code(pair, value.first());
    case ValueKind::open_list:
      return value.fresh ? kEmptyList : kUsedEmptyList;
    case ValueKind::open_dict:
      return value.fresh ? kEmptyDict : kUsedEmptyDict;
    case ValueKind::broken:
      return code(broken, value.first());
    case ValueKind::list:
      if (value.element == ValueKind::frame) return code(stack, value.first());
      if (value.element == ValueKind::broken) return code(broken, value.first());
      return value.element == ValueKind::other ? kPlain : kNotShared;
    case ValueKind::event:
    case ValueKind::block:
    case ValueKind::segment:
    case ValueKind::annotation:
    case ValueKind::settings:
    case ValueKind::top:
      return kNotShared;
    default:
      return kPlain;
  }
}

Memo::Fault Memo::get_state(std::uint32_t& entry, Value& value) {
  value = Value{};
  switch (entry) {
    case kUnset:
      return Fault::unknown;
    case kNotShared:
      return Fault::not_shared;
    case kEmptyList:
    case kUsedEmptyList:
      entry = kUsedEmptyList;
      value.kind = ValueKind::open_list;
      break;
    case kEmptyDict:
    case kUsedEmptyDict:
      entry = kUsedEmptyDict;
      value.kind = ValueKind::open_dict;
      break;
    default:
      break;
  }
  return Fault::none;
}

void Memo::add_page(std::size_t page) {
  if (page >= pages_.size()) {
    budget_.charge((page + 1) * sizeof pages_[0]);
    budget_.release(pages_.size() * sizeof pages_[0]);
    pages_.resize(page + 1);
  }
  budget_.charge(sizeof(Page));
  pages_[page] = std::make_unique<Page>();
}

}  // namespace ebb::trace
