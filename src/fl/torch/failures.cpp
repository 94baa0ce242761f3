// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/failures.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>

namespace ebb::fl {
namespace {

/// Libraries that take memory behind libtorch's back have no class for it, only words.
constexpr std::array<const char*, 3> kWords = {"out of memory", "can't allocate memory",
                                               "ALLOC_FAILED"};

constexpr std::size_t kLongestText = 160;

bool is_out_of_memory(const std::exception& thrown, const std::string& text) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError*>(&thrown) != nullptr)
    return true;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* words) { return text.find(words) != std::string::npos; });
}

}  // namespace

base::Error error_of(const std::exception& thrown) {
  const auto* of_torch = dynamic_cast<const c10::Error*>(&thrown);
  std::string text = of_torch != nullptr ? of_torch->what_without_backtrace() : thrown.what();
  const bool is_memory = is_out_of_memory(thrown, text);
  text.resize(std::min(text.size(), text.find('\n')));
  // What follows are PyTorch's hints, a paragraph of them.
  if (text.size() > kLongestText)
    text.resize(std::min(text.rfind(". ", kLongestText), kLongestText) + 1);
  return base::Error{is_memory ? base::Code::out_of_memory : base::Code::internal, text, 0};
}

}  // namespace ebb::fl
