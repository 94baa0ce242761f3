// SPDX-License-Identifier: Apache-2.0
// Any bytes as a record: refused in one line, or a message that is written back as the same bytes.
#include <algorithm>
#include <cstdlib>

#include "wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span record(reinterpret_cast<const std::byte*>(data), size);
  const auto message = ebb::wire::decode(record);
  if (!message) {
    if (message.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  ebb::wire::Buffer buffer{};
  const auto again = ebb::wire::encode(*message, buffer);
  if (!std::equal(again.begin(), again.end(), record.begin(), record.end())) std::abort();
  return 0;
}
