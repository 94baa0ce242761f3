// SPDX-License-Identifier: Apache-2.0
// Random programs on the caching allocator and on its plain model; see tests/cache/program.h.
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "cache/program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ebb::base::set_log_level(ebb::base::LogLevel::off);
  const ebb::cache::ByteSource source(data, size);
  if (!ebb::cache::first_difference(source)) return 0;
  const auto difference = ebb::cache::first_difference(source, true);
  std::fprintf(stderr, "%s\n", difference ? difference->c_str() : "it does not come again");
  std::abort();
}
