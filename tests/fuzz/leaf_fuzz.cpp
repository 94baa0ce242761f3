// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "base/check.h"
#include "fl/data/leaf.h"

using namespace ebb;

/// A file of LEAF is samples that belong together, or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pack::TextSource source(std::string_view(reinterpret_cast<const char*>(data), size));
  fl::LeafSamples samples;
  const base::Status read = fl::read_leaf(source, "file", samples);
  if (!read) {
    EBB_CHECK(read.error().code == base::Code::bad_input);
    EBB_CHECK(read.error().message.find("file: ") == 0);
    EBB_CHECK(read.error().message.find('\n') == std::string::npos);
    return 0;
  }
  const auto count = std::accumulate(samples.users.begin(), samples.users.end(), std::uint64_t{0});
  EBB_CHECK(count == samples.labels.size());
  EBB_CHECK(samples.users.size() == samples.names.size());
  EBB_CHECK(samples.pixels.size() + samples.values.size() == count * samples.length);
  return 0;
}
