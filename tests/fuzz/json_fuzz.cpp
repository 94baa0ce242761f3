// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"

using ebb::base::parse_json;

/// Any text is a value or one clear line; a value, written and read again, is the same value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value) {
    EBB_CHECK(value.error().code == ebb::base::Code::bad_input);
    EBB_CHECK(value.error().message.find("JSON at offset ") == 0);
    return 0;
  }
  const std::string text = value->text();
  for (const bool indented : {false, true}) {
    const auto again = parse_json(value->text(indented));
    EBB_CHECK(again.has_value());
    EBB_CHECK(again->text() == text);
  }
  return 0;
}
