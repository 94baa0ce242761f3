// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace ebb::base {

/// What a switch in the environment says, in upper or lower case: 1, true and yes are true; 0,
/// false and no are false; anything else, nothing too, is neither. Needs no library and no memory:
/// also what stands before malloc reads switches by it.
constexpr std::optional<bool> truth_of_word(std::string_view word) {
  const auto is = [word](std::string_view expected) {
    if (word.size() != expected.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const char c = word[i];
      if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != expected[i])
        return false;
    }
    return true;
  };
  if (is("1") || is("true") || is("yes")) return true;
  if (is("0") || is("false") || is("no")) return false;
  return std::nullopt;
}

/// Whether EBB_DISABLE keeps what runs inside a job from doing anything. Nobody can be asked there
/// what a word means that is neither: it more likely asks for less of Ebb than for more. Null and
/// "" are no word.
constexpr bool disables(const char* word) {
  return word != nullptr && *word != '\0' && truth_of_word(word).value_or(true);
}

}  // namespace ebb::base
