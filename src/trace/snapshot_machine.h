// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "trace/memo.h"
#include "trace/memory_budget.h"
#include "trace/pickle_reader.h"
#include "trace/snapshot_records.h"

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
  enum class Outcome : std::uint8_t { more, done, failed };

  Outcome step(const PickleToken& token);
  Outcome fail(base::Error error);
  Outcome push(const Value& value);
  Outcome put(Index number);
  Outcome get(std::uint64_t number);
  Outcome fill_dict(std::size_t first_item);
  Outcome fill_list(std::size_t first_item);
  Outcome make_tuple(std::size_t items);
  Outcome make_long_tuple();
  Outcome add_text(const PickleToken& token);
  bool target_of(std::size_t first_item, bool dict);
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::size_t pop_mark();

  PickleReader& reader_;
  MemoryBudget budget_;
  SnapshotRecords records_;
  Memo memo_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  base::Error error_;
};

}  // namespace ebb::trace
