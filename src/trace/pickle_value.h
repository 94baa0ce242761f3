// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trace/snapshot.h"

namespace ebb::trace {

/// What lies on the stack of the machine that reads a snapshot. Contents that are of use have moved
/// to their lists by then; the value only says where.
enum class ValueKind : std::uint8_t {
  other,  ///< nothing that a snapshot needs
  boolean,
  integer,
  real,
  text,
  pair,       ///< a tuple of two integers
  open_dict,  ///< empty so far
  open_list,  ///< empty so far
  dict,       ///< none of those below
  event,      ///< this and the next three: a run of them, made one after another
  block,
  segment,
  annotation,
  ignored,  ///< an event of a kind that is not known
  frame,
  past,  ///< what the blocks of PyTorch 2.0 have instead of a stack
  settings,
  top,     ///< the dict with segments and traces
  list,    ///< of `element`: one of the runs, `frame` (a stack), `list` (traces) or `other`
  broken,  ///< a dict that cannot be what it seems; an error where it is needed
};

struct Value {
  ValueKind kind = ValueKind::other;
  ValueKind element = ValueKind::other;
  bool negative = false;  ///< of an integer: `number` is its two's complement
  bool fresh = false;     ///< a container made here, which may be filled
  Index slot = kNone;     ///< its number in the memo
  std::uint64_t number = 0;

  /// Of runs and lists: the first item and how many; otherwise a number in a list elsewhere.
  Index first() const { return static_cast<Index>(number); }
  Index count() const { return static_cast<Index>(number >> 32); }
  void set_run(Index first, Index count) {
    number = first | static_cast<std::uint64_t>(count) << 32;
  }

  static Value of(ValueKind kind, std::uint64_t number = 0) {
    Value value;
    value.kind = kind;
    value.number = number;
    return value;
  }
  static Value run(ValueKind kind, Index first) { return of(kind, first | std::uint64_t{1} << 32); }

  bool is_run() const { return kind >= ValueKind::event && kind <= ValueKind::annotation; }
  bool is_empty_list() const { return kind == ValueKind::open_list; }
  bool is_list_of(ValueKind wanted) const { return kind == ValueKind::list && element == wanted; }
  bool is_broken() const { return kind == ValueKind::broken || is_list_of(ValueKind::broken); }
};
static_assert(sizeof(Value) == 16);

}  // namespace ebb::trace
