// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::cache {

/// A word or one of the marks `,` `:` `[` `]`, with the column (from 1) where it starts.
struct SettingsToken {
  std::string text;
  std::size_t column = 1;

  bool is(char mark) const { return text.size() == 1 && text[0] == mark; }
};

/// Cuts a settings string into tokens. Blanks vanish even inside words, as they do in PyTorch:
/// spaces only, or everything isspace() knows.
std::vector<SettingsToken> settings_tokens(std::string_view text, bool any_blank);

/// The integer that `text` begins with, like std::stoi and std::stoull: text after it is ignored, a
/// negative number wraps around. Nothing when there is none or it does not fit `bits` (32 or 64).
std::optional<std::uint64_t> leading_integer(const std::string& text, int bits);

/// The number that `text` begins with, like std::stod.
std::optional<double> leading_double(const std::string& text);

}  // namespace ebb::cache
