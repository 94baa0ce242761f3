// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cache/settings_tokens.h"
#include "cache/version.h"

namespace ebb::cache {

/// Reads values off a settings string, one after the other, with that PyTorch's leniency. False:
/// the value is not one, and failure() says what was expected where; then reading is over.
class SettingsReader {
 public:
  SettingsReader(std::string_view text, const VersionProfile& profile);

  bool at_end() const { return next_ >= tokens_.size(); }
  std::size_t column() const { return at_end() ? size_ + 1 : tokens_[next_].column; }
  const SettingsToken& token() const { return tokens_[next_]; }
  const base::Error& failure() const { return failure_; }

  std::size_t position() const { return next_; }  ///< of the next token, to come back to it
  void go_to(std::size_t position) { next_ = position; }
  void skip() { ++next_; }
  void step_back() { --next_; }

  /// The key that the values that follow are for; errors name it.
  void begin(std::string name) { name_ = std::move(name); }
  const std::string& name() const { return name_; }

  bool fail(std::size_t column, const std::string& what);
  bool fail_here(const std::string& what);  ///< adds what was found instead

  bool separator(char mark);
  bool skip_value();  ///< a word or a list
  bool boolean(bool& value);
  bool integer(std::uint64_t& value, int old_bits = 32);
  bool mebibytes(std::uint64_t& bytes, std::uint64_t least);
  bool fraction(double& value, bool ends_included);
  bool power_of_two(std::uint64_t& value, bool zero_allowed, int old_bits = 32);

 private:
  const VersionProfile& profile_;
  std::size_t size_;
  std::vector<SettingsToken> tokens_;
  std::size_t next_ = 0;
  std::string name_;
  base::Error failure_;
};

}  // namespace ebb::cache
