// SPDX-License-Identifier: Apache-2.0
#include "trace/snapshot_machine.h"

#include <algorithm>

namespace ebb::trace {
namespace {

constexpr std::size_t kDeepest = 1000;
constexpr std::size_t kNoMark = static_cast<std::size_t>(-1);

}  // namespace

SnapshotMachine::SnapshotMachine(PickleReader& reader, std::uint64_t allowance)
    : reader_(reader),
      budget_(reader, allowance),
      records_(reader, budget_),
      memo_(budget_),
      stack_(budget_) {}

bool SnapshotMachine::fail(base::Error error) {
  error_ = std::move(error);
  return false;
}

/// Where the items since the last mark begin; kNoMark without one.
std::size_t SnapshotMachine::pop_mark() {
  if (marks_.empty()) return kNoMark;
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return mark;
}

inline bool SnapshotMachine::put(Index number) {
  if (stack_.size() <= floor()) return fail(reader_.error_here("nothing there to refer back to"));
  Value& value = stack_.back();
  if (value.fresh) {
    if (value.slot != kNone) {
      return fail(reader_.error_here("the same dict or list is to be referred to by two numbers"));
    }
    value.slot = number;
  }
  memo_.put(number, value);
  return true;
}

inline bool SnapshotMachine::get(std::uint64_t number) {
  Value value;
  switch (memo_.get(number, value)) {
    case Memo::Fault::none:
      return push(value);
    case Memo::Fault::unknown:
      return fail(reader_.error_here("refers back to number %llu, which was never given",
                                     static_cast<unsigned long long>(number)));
    case Memo::Fault::not_shared:
      break;
  }
  return fail(reader_.error_here(
      "refers back to an event, block, segment or a list of them; a snapshot shares only text, "
      "frames and stacks"));
}

/// Whether what lies below the items is a container that may be filled.
bool SnapshotMachine::target_of(std::size_t first_item, bool dict) {
  if (first_item == kNoMark || first_item == 0 || first_item > stack_.size() ||
      first_item - 1 < floor()) {
    error_ = reader_.error_here("items for a %s without one", dict ? "dict" : "list");
    return false;
  }
  const Value& target = stack_[first_item - 1];
  const bool fits = dict ? target.kind == ValueKind::open_dict || target.kind == ValueKind::dict
                         : target.kind == ValueKind::open_list || target.kind == ValueKind::list;
  if (!fits || !target.fresh) {
    error_ = reader_.error_here("items for something that is not a new %s", dict ? "dict" : "list");
    return false;
  }
  if (target.slot != kNone && memo_.used_while_empty(target.slot)) {
    error_ = reader_.error_here("a %s changes after it was used", dict ? "dict" : "list");
    return false;
  }
  return true;
}

inline bool SnapshotMachine::fill_dict(std::size_t first_item) {
  if (!target_of(first_item, true)) return false;
  const std::size_t count = stack_.size() - first_item;
  if (count % 2 != 0) return fail(reader_.error_here("a key of a dict without its value"));
  if (count == 0) return true;
  Value& target = stack_[first_item - 1];
  Value made = records_.make(&stack_[first_item], count / 2);
  if (target.kind == ValueKind::dict) made = Value::of(ValueKind::dict);
  made.slot = target.slot;
  made.fresh = made.kind == ValueKind::dict;
  target = made;
  stack_.cut(first_item);
  if (made.slot != kNone) memo_.put(made.slot, made);
  if (made.is_run() && first_item >= 2 && first_item - 2 >= floor()) {
    Value& before = stack_[first_item - 2];
    if (before.kind == made.kind && before.first() + before.count() == made.first()) {
      before.set_run(before.first(), before.count() + 1);
      stack_.cut(stack_.size() - 1);
    }
  }
  return true;
}

inline bool SnapshotMachine::fill_list(std::size_t first_item) {
  if (!target_of(first_item, false)) return false;
  const std::size_t count = stack_.size() - first_item;
  Value& target = stack_[first_item - 1];
  if (count > 0) records_.extend(target, &stack_[first_item], count);
  if (count > 0 && target.slot != kNone) memo_.put(target.slot, target);
  stack_.cut(first_item);
  return true;
}

bool SnapshotMachine::make_tuple(std::size_t items) {
  if (stack_.size() - floor() < items) {
    return fail(reader_.error_here("a tuple of %zu values without that many", items));
  }
  const std::size_t first = stack_.size() - items;
  Value made;
  if (items == 2) {
    made = records_.make_pair(stack_[first], stack_[first + 1]);
  } else {
    while (items-- > 0) {
      records_.drop(stack_[first + items]);
    }
  }
  stack_.cut(first);
  return push(made);
}

bool SnapshotMachine::make_long_tuple() {
  const std::size_t first = pop_mark();
  if (first == kNoMark) return fail(reader_.error_here("a tuple without its beginning"));
  for (std::size_t i = stack_.size(); i-- > first;) {
    records_.drop(stack_[i]);
  }
  stack_.cut(first);
  return push(Value{});
}

inline bool SnapshotMachine::mark() {
  if (marks_.size() == kDeepest) {
    return fail(reader_.error_here("nested more than %zu deep", kDeepest));
  }
  marks_.push_back(stack_.size());
  return true;
}

inline bool SnapshotMachine::integer(std::uint64_t number, bool negative) {
  Value value = Value::of(ValueKind::integer, number);
  value.negative = negative;
  return push(value);
}

inline bool SnapshotMachine::text(std::string_view text) {
  const Index number = records_.intern(text);
  if (number == kNone) return fail(reader_.error_here("a text is not UTF-8: the file is damaged"));
  return push(Value::of(ValueKind::text, number));
}

inline bool SnapshotMachine::open(ValueKind kind) {
  Value value = Value::of(kind);
  value.fresh = true;
  return push(value);
}

bool SnapshotMachine::other(PickleOp op, std::uint64_t number) {
  switch (op) {
    case PickleOp::put:
      return put(static_cast<Index>(number));
    case PickleOp::set_item:
      return fill_dict(stack_.size() - std::min<std::size_t>(stack_.size(), 2));
    case PickleOp::append:
      return fill_list(stack_.size() - std::min<std::size_t>(stack_.size(), 1));
    case PickleOp::tuple1:
      return make_tuple(1);
    case PickleOp::tuple2:
      return make_tuple(2);
    case PickleOp::tuple3:
      return make_tuple(3);
    case PickleOp::tuple:
      return make_long_tuple();
    case PickleOp::boolean:
      return push(Value::of(ValueKind::boolean, number));
    case PickleOp::real:
      return push(Value::of(ValueKind::real, number));
    case PickleOp::none:
    case PickleOp::empty_tuple:
    case PickleOp::huge_integer:
    case PickleOp::long_text:
      return push(Value{});
    case PickleOp::stop:
      break;
  }
  stopped_ = true;
  return false;
}

base::Result<Snapshot> SnapshotMachine::run() try {
  if (!reader_.begin() || !reader_.read(*this)) return reader_.error();
  if (!stopped_) return error_;
  if (stack_.size() != 1 || !marks_.empty()) {
    return reader_.error_here("the pickle ends with %zu values, expected one", stack_.size());
  }
  const Value root = stack_.back();
  if (!reader_.finish()) return reader_.error();
  return records_.finish(root);
} catch (const OverBudget&) {
  return reader_.error_here(
      "what was read takes more memory than the file has bytes; no recording is packed like that");
}

}  // namespace ebb::trace
