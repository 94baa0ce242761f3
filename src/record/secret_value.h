// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ebb::record {

constexpr std::string_view kBlanks = " \t\n\r\v\f";
constexpr std::string_view kQuotes = "'\"";

inline bool is_in(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

/// A quotation mark as it stands in a text: with more backslashes in front the deeper it is nested.
struct Quote {
  char mark = 0;
  std::size_t backslashes = 0;

  bool operator==(const Quote&) const = default;
};

/// Quotes that are open at some place of a text, outermost first.
class OpenQuotes {
 public:
  /// One more was passed: it closes what it opened, and all inside of that.
  void pass(const Quote& quote);
  bool has(const Quote& quote) const;

 private:
  std::vector<Quote> open_;
};

/// The quote at `at`, or behind backslashes that begin there; with mark 0 if there is none.
Quote quote_at(std::string_view text, std::size_t at);

/// Where a value ends. The two differ where a shell ends it sooner than Python or JSON: 'a\'.
struct ValueEnd {
  std::size_t earliest = 0;
  std::size_t latest = 0;
};

/// The end of a value that begins at `at`: that of its quotes if it begins in `quote`, else the
/// first blank that stands in no quotes and no brackets. Quotes that close one of `around` end it
/// too. In doubt it ends later rather than earlier.
ValueEnd end_of_value(std::string_view text, std::size_t at, const Quote& quote,
                      const OpenQuotes& around);

}  // namespace ebb::record
