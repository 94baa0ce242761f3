// SPDX-License-Identifier: Apache-2.0
#include "record/secret_value.h"

#include <algorithm>

namespace ebb::record {
namespace {

enum class Rules { shell, program };

/// Where the quote that closes `quote` begins, with its backslashes; npos if there is none.
std::size_t closing(std::string_view text, std::size_t from, const Quote& quote, Rules rules) {
  // To a shell, a backslash between single quotes is one.
  if (rules == Rules::shell && quote == Quote{'\'', 0}) return text.find('\'', from);
  for (std::size_t at = from; at < text.size(); ++at) {
    const Quote found = quote_at(text, at);
    // Each nesting doubles backslashes: the remainder is the quote's own.
    if (found.mark == quote.mark &&
        found.backslashes % (2 * (quote.backslashes + 1)) == quote.backslashes)
      return at + found.backslashes - quote.backslashes;
    at += found.backslashes;
  }
  return std::string_view::npos;
}

/// Whether a value may end in front of this place, where a quote has just ended: behind quotes that
/// stand around it, if any, a word ends.
bool ends_before(std::string_view text, std::size_t at, const OpenQuotes& around) {
  for (Quote quote = quote_at(text, at); around.has(quote); quote = quote_at(text, at))
    at += quote.backslashes + 1;
  return at >= text.size() || is_in(kBlanks, text[at]) || is_in(",;:)]}&|<>", text[at]);
}

/// The end of a value, or of what is left of one, that is not in quotes as a whole.
std::size_t end_of_word(std::string_view text, std::size_t at, const OpenQuotes& around,
                        Rules rules) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (depth == 0 && is_in(kBlanks, c)) return at;
    if (const Quote quote = quote_at(text, at); quote.mark != 0) {
      const std::size_t behind = at + quote.backslashes + 1;
      if (around.has(quote) && ends_before(text, behind, around)) return at;
      const std::size_t end = closing(text, behind, quote, rules);
      at = end == std::string_view::npos ? behind : end + quote.backslashes + 1;
      continue;
    }
    if (is_in("([{", c)) ++depth;
    if (is_in(")]}", c) && depth > 0) --depth;
    at += c == '\\' ? 2 : 1;
  }
  return text.size();
}

std::size_t end_of_value(std::string_view text, std::size_t at, const Quote& quote,
                         const OpenQuotes& around, Rules rules) {
  if (quote.mark == 0) return end_of_word(text, at, around, rules);
  const std::size_t end = closing(text, at, quote, rules);
  if (end == std::string_view::npos) return text.size();
  const std::size_t behind = end + quote.backslashes + 1;
  // As in 'it'\''s': what stands right behind the quotes belongs to the value.
  return ends_before(text, behind, around) ? end : end_of_word(text, behind, around, rules);
}

}  // namespace

void OpenQuotes::pass(const Quote& quote) {
  const auto found = std::find(open_.begin(), open_.end(), quote);
  if (found == open_.end())
    open_.push_back(quote);
  else
    open_.erase(found, open_.end());
}

bool OpenQuotes::has(const Quote& quote) const {
  return std::find(open_.begin(), open_.end(), quote) != open_.end();
}

Quote quote_at(std::string_view text, std::size_t at) {
  const std::size_t mark = text.find_first_not_of('\\', at);
  if (mark == std::string_view::npos || !is_in(kQuotes, text[mark])) return {};
  return {text[mark], mark - at};
}

ValueEnd end_of_value(std::string_view text, std::size_t at, const Quote& quote,
                      const OpenQuotes& around) {
  const auto [earliest, latest] =
      std::minmax({std::min(end_of_value(text, at, quote, around, Rules::shell), text.size()),
                   std::min(end_of_value(text, at, quote, around, Rules::program), text.size())});
  return {earliest, latest};
}

}  // namespace ebb::record
