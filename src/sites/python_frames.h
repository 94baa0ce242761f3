// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sites/python_layout.h"
#include "sites/readable.h"
#include "sites/table.h"

namespace ebb::sites {

/// The calls in Python of the thread that asks, read from its own state without its interpreter's
/// lock: nobody but this thread changes it. Off until begin() has seen that the layout is right in
/// this very process.
class PythonFrames {
 public:
  using ThisThread = void* (*)();

  constexpr PythonFrames() = default;

  /// To be called out of Python: the innermost call is in `function` of `file`, at `line`. True
  /// where that is what is read; else nothing ever is. `find_thread` is
  /// PyGILState_GetThisThreadState.
  bool begin(unsigned minor, ThisThread find_thread, const char* file, const char* function,
             std::uint32_t line);
  /// The interpreter is about to end.
  void end() { layout_.store(nullptr, std::memory_order_release); }

  bool is_on() const { return layout_.load(std::memory_order_relaxed) != nullptr; }
  unsigned minor() const {
    const PythonLayout* layout = layout_.load(std::memory_order_acquire);
    return layout == nullptr ? 0 : layout->minor;
  }

  /// Innermost first; their texts go to `table`. None where this thread runs no Python.
  std::size_t read(Readable& memory, Table& table, PythonCall* calls, std::size_t most) const;

 private:
  std::atomic<const PythonLayout*> layout_{nullptr};
  std::atomic<ThisThread> this_thread_{nullptr};
  std::atomic<std::uint64_t> code_type_{0};
};

/// The line of the instruction at `offset` bytes, by the table of a code object whose first line is
/// `first`; `first` where the table does not tell. Never reads beyond `bytes`.
std::uint32_t line_at(LineTable kind, const unsigned char* table, std::size_t bytes,
                      std::uint32_t first, std::uint64_t offset);

}  // namespace ebb::sites
