// SPDX-License-Identifier: Apache-2.0
// Lists of a snapshot: traces, stacks, runs of records.
#include <algorithm>

#include "trace/snapshot_records.h"

namespace ebb::trace {
namespace {

/// More frames than any program has.
constexpr std::size_t kDeepestStack = 100000;

void become(Value& list, ValueKind element, Index first, Index count) {
  list.kind = ValueKind::list;
  list.element = element;
  list.set_run(first, count);
}

}  // namespace

void SnapshotRecords::extend(Value& list, Value* items, std::size_t count) {
  if (count == 0) return;
  const bool may_be_stack = list.is_empty_list() || list.is_list_of(ValueKind::frame);
  if (items[0].kind == ValueKind::frame && may_be_stack) {
    add_frames(list, items, count);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    add_item(list, items[i]);
  }
}

void SnapshotRecords::add_frames(Value& list, const Value* items, std::size_t count) {
  scratch_.clear();
  if (!list.is_empty_list()) scratch_ = stacks_.all()[list.first()];
  for (std::size_t i = 0; i < count; ++i) {
    if (items[i].is_broken()) return become(list, ValueKind::broken, items[i].first(), 1);
    if (items[i].kind != ValueKind::frame) return become(list, ValueKind::other, 0, 0);
    scratch_.push_back(items[i].first());
  }
  if (scratch_.size() > kDeepestStack) {
    const Value fault = broken("a stack of more than %zu frames", kDeepestStack);
    return become(list, ValueKind::broken, fault.first(), 1);
  }
  become(list, ValueKind::frame, stacks_.intern(scratch_), 1);
}

void SnapshotRecords::add_item(Value& list, const Value& item) {
  if (list.is_broken()) return;
  if (item.is_broken()) return become(list, ValueKind::broken, item.first(), 1);
  if (item.is_empty_list() || item.is_list_of(ValueKind::event)) return add_trace(list, item);
  if (item.kind == ValueKind::ignored) {
    ++ignored_events_;
    if (list.is_empty_list()) {
      become(list, ValueKind::event, static_cast<Index>(events_.size()), 0);
    } else if (!list.is_list_of(ValueKind::event)) {
      become(list, ValueKind::other, 0, 0);
    }
    return;
  }
  if (item.is_run()) {
    if (list.is_empty_list() || (list.is_list_of(item.kind) && list.count() == 0)) {
      return become(list, item.kind, item.first(), item.count());
    }
    if (list.is_list_of(item.kind) && list.first() + list.count() == item.first()) {
      return become(list, item.kind, list.first(), list.count() + item.count());
    }
  }
  if (item.kind == ValueKind::past) {
    if (list.is_empty_list()) return become(list, ValueKind::past, item.first(), 1);
    if (list.is_list_of(ValueKind::past)) return;  // the first is the newest
  }
  drop(item);
  become(list, ValueKind::other, 0, 0);
}

void SnapshotRecords::add_trace(Value& list, const Value& item) {
  const auto next = static_cast<Index>(traces_.size());
  if (list.is_empty_list()) {
    become(list, ValueKind::list, next, 0);
  } else if (!list.is_list_of(ValueKind::list) || list.first() + list.count() != next) {
    drop(item);
    return become(list, ValueKind::other, 0, 0);
  }
  budget_.make_room(traces_);
  traces_.push_back(item.is_empty_list() ? Range{} : Range{item.first(), item.count()});
  list.set_run(list.first(), list.count() + 1);
}

/// Whether it is a list of events, or of such lists, that are not all empty.
bool SnapshotRecords::has_events(const Value& list) const {
  if (list.is_list_of(ValueKind::event)) return list.count() > 0;
  if (!list.is_list_of(ValueKind::list)) return false;
  const auto first = traces_.begin() + static_cast<std::ptrdiff_t>(list.first());
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(list.count()),
                     [](const Range& range) { return range.count > 0; });
}

void SnapshotRecords::drop(const Value& value) {
  const ValueKind kind = value.kind == ValueKind::list ? value.element : value.kind;
  const std::size_t end = value.first() + std::size_t{value.count()};
  if (kind == ValueKind::event && end == events_.size()) events_.truncate(value.first());
  if (kind == ValueKind::block && end == blocks_.size()) blocks_.truncate(value.first());
  if (kind == ValueKind::annotation && end == annotations_.size()) {
    annotations_.truncate(value.first());
  }
}

}  // namespace ebb::trace
