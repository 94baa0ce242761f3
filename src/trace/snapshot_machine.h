// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/memo.h"
#include "trace/memory_budget.h"
#include "trace/pickle_reader.h"
#include "trace/snapshot_records.h"
#include "trace/value_stack.h"

namespace ebb::trace {

/// Runs a pickle as its writer meant it, except that dicts and lists become records of a snapshot
/// the moment they are filled, and everything else is forgotten. Memory stays within the bytes read
/// and `allowance`. For one file; not thread-safe.
class SnapshotMachine {
 public:
  SnapshotMachine(PickleReader& reader, std::uint64_t allowance);

  /// The snapshot, after reading to the end. Throws only std::bad_alloc.
  base::Result<Snapshot> run();

 private:
  friend class PickleReader;

  // What PickleReader::read calls; false where the machine stops.
  bool get(std::uint64_t number);
  bool memoize() { return put(memo_.next()); }
  bool mark();
  bool set_items() { return fill_dict(pop_mark()); }
  bool appends() { return fill_list(pop_mark()); }
  bool integer(std::uint64_t number, bool negative);
  bool text(std::string_view text);
  bool empty_dict() { return open(ValueKind::open_dict); }
  bool empty_list() { return open(ValueKind::open_list); }
  bool other(PickleOp op, std::uint64_t number);

  bool fail(base::Error error);
  bool push(const Value& value) {
    stack_.push(value);
    return true;
  }
  bool open(ValueKind kind);
  bool put(Index number);
  bool fill_dict(std::size_t first_item);
  bool fill_list(std::size_t first_item);
  bool make_tuple(std::size_t items);
  bool make_long_tuple();
  bool target_of(std::size_t first_item, bool dict);
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::size_t pop_mark();

  PickleReader& reader_;
  MemoryBudget budget_;
  SnapshotRecords records_;
  Memo memo_;
  ValueStack stack_;
  std::vector<std::size_t> marks_;
  base::Error error_;
  bool stopped_ = false;  ///< by the pickle itself
};

}  // namespace ebb::trace
