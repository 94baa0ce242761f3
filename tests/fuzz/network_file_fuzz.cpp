// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "fl/network_shape.h"
#include "plan/network_file.h"

namespace {

template <class T>
bool is_clear(const ebb::base::Result<T>& result) {
  if (result) return true;
  EBB_CHECK(result.error().code == ebb::base::Code::bad_input);
  EBB_CHECK(result.error().message.starts_with("my.json: "));
  EBB_CHECK(result.error().message.find('\n') == std::string::npos);
  return false;
}

}  // namespace

/// Any text is a network that the trainer and the plan agree on, or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto unsized = ebb::plan::network_from(text, "my.json", {}, 10);
  const auto network = ebb::plan::network_from(text, "my.json", ebb::plan::Picture{3, 32, 32}, 10);
  if (!is_clear(unsized)) EBB_CHECK(!network.has_value());
  if (!is_clear(network)) return 0;
  EBB_CHECK(unsized.has_value());
  const auto shape = ebb::fl::shape_of(*network);
  EBB_CHECK(shape.has_value());
  const auto tape = ebb::plan::write_network(*network, 1 << 24, ebb::plan::Precision::fp32);
  EBB_CHECK(tape.has_value());
  EBB_CHECK(tape->parameter_count() == shape->elements);
  return 0;
}
