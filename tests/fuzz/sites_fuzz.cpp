// SPDX-License-Identifier: Apache-2.0
// What sites read of files: programs of .debug_line, entries of .debug_info, and tables
// of Python's lines.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sites/inlined_calls.h"
#include "sites/line_table.h"
#include "sites/python_frames.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t third = size / 3;
  std::map<std::uint64_t, ebb::sites::SourceLine> addresses{{0x1000, {}}, {0x1015, {}}, {8, {}}};
  ebb::sites::find_lines({bytes, bytes.substr(0, third), bytes.substr(third)}, addresses);
  ebb::sites::InlinedCalls calls{{0x1000, {}}, {0x1015, {}}, {8, {}}};
  const std::string_view rest = bytes.substr(third);
  ebb::sites::find_inlined_calls({bytes, bytes.substr(0, third), rest, rest, rest}, calls);
  for (const auto kind : {ebb::sites::LineTable::pairs, ebb::sites::LineTable::ranges,
                          ebb::sites::LineTable::locations})
    static_cast<void>(ebb::sites::line_at(kind, data, size, 10, size / 2));
  return 0;
}
