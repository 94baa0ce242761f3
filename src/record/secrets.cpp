// SPDX-License-Identifier: Apache-2.0
#include "record/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "record/secret_value.h"

namespace ebb::record {
namespace {

constexpr std::string_view kHidden = "***";
/// Behind one of these, a word is more than a name and its value.
constexpr std::string_view kEndsHead = " \t\n\r\v\f'\"\\{[(;|";

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

/// Without dashes in front, in small letters, with '_' for '-'.
std::string normal_name(std::string_view name) {
  std::string normal;
  for (const char c : name.substr(std::min(name.find_first_not_of('-'), name.size())))
    normal += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return normal;
}

bool names_secret(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWords = {"password", "token", "secret", "api_key"};
  const std::string normal = normal_name(name);
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return normal == word || normal.ends_with("_" + std::string(word));
  });
}

/// An option whose value follows it.
bool awaits_secret(std::string_view word) {
  return word.starts_with("-") && names_secret(word);
}

/// Goes through a text once and hides what it has to. What a word of a command assigns goes on to
/// its end; in a line of code, or where other text stands before it, to where a shell would see it.
class Hiding {
 public:
  Hiding(std::string_view text, bool is_code)
      : text_(text),
        end_of_head_(is_code ? 0 : std::min(text.find_first_of(kEndsHead), text.size())) {}

  std::string text() {
    while (at_ < text_.size()) {
      if (is_part_of_name(text_[at_])) {
        name();
      } else if (text_.substr(at_, 3) == "://") {
        login();
      } else {
        copy_to(at_ + 1 + quote_at(text_, at_).backslashes);
      }
    }
    return std::move(out_);
  }

 private:
  void copy_to(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (is_in(kQuotes, text_[at_])) around_.pass({text_[at_], backslashes_before(at_)});
      if (at_ >= hidden_to_) out_ += text_[at_];
    }
  }

  /// Goes on at `end`; nothing in front of `hidden_to` is shown, whatever it is.
  void hide_to(std::size_t end, std::size_t hidden_to) {
    if (at_ >= hidden_to_) out_ += kHidden;
    hidden_to_ = std::max(hidden_to, hidden_to_);
    at_ = end;
  }

  std::size_t behind(std::string_view set, std::size_t from) const {
    return std::min(text_.find_first_not_of(set, from), text_.size());
  }

  std::size_t backslashes_before(std::size_t at) const {
    const std::size_t other = text_.substr(0, at).find_last_not_of('\\');
    return other == std::string_view::npos ? at : at - other - 1;
  }

  void name() {
    const std::size_t start = at_;
    std::size_t end = start;
    while (end < text_.size() && is_part_of_name(text_[end]))
      ++end;
    const std::string_view name = text_.substr(start, end - start);
    copy_to(end);
    // `name=`, `name: `, `"name": ` and `\"name\": `, but not the beginning of an address.
    const std::size_t sign = behind(" ", behind("'\"\\", end));
    const bool assigns =
        sign < text_.size() && is_in("=:", text_[sign]) && text_.substr(sign, 3) != "://";
    if (assigns && (names_secret(name) || normal_name(name).ends_with("_key"))) {
      copy_to(sign + 1);
      value(start, sign == end, false);
    } else if (awaits_secret(name) && end < text_.size()) {
      value(start, false, true);
    }
  }

  /// Hides what belongs to the name at `name`: the rest of its word, up to the end of quotes, or to
  /// a blank. The word is in quotes where `may_be_quoted` and where it follows one: 'NAME=a b'.
  void value(std::size_t name, bool may_be_quoted, bool may_be_option) {
    const bool is_rest = name < end_of_head_;
    const OpenQuotes around = around_;
    const std::size_t skipped = at_;
    copy_to(behind(is_rest ? " \t" : " \t\n\r\v\f,'\"\\", at_));
    if (at_ == text_.size()) return;
    // Another option of this kind has a value of its own.
    std::size_t end = at_;
    while (end < text_.size() && is_part_of_name(text_[end]))
      ++end;
    if (may_be_option && awaits_secret(text_.substr(at_, end - at_))) return;
    if (is_rest) return hide_to(text_.size(), text_.size());
    const Quote quote = quote_before(at_);
    ValueEnd value = end_of_value(text_, at_, quote, around);
    if (may_be_quoted) reach(value, before_word(name), around);
    // In "'a'b c" the value is what the outer ones hold.
    for (std::size_t at = at_; at > skipped && !is_in(kBlanks, text_[at - 1]); --at)
      reach(value, at, around);
    if (quote.mark == 0 || quote_at(text_, value.earliest) != quote) around_ = around;
    hide_to(value.earliest, value.latest);
  }

  /// The value is in the quotes that begin in front of `at`, if there are any.
  void reach(ValueEnd& value, std::size_t at, OpenQuotes around) const {
    const Quote quote = quote_before(at);
    if (quote.mark == 0) return;
    if (around.has(quote)) around.pass(quote);
    const ValueEnd outer = end_of_value(text_, at_, quote, around);
    value = {std::min(value.earliest, outer.earliest), std::max(value.latest, outer.latest)};
  }

  Quote quote_before(std::size_t at) const {
    if (at == 0 || !is_in(kQuotes, text_[at - 1])) return {};
    return {text_[at - 1], backslashes_before(at - 1)};
  }

  /// Where the word begins in which a name stands.
  std::size_t before_word(std::size_t name) const {
    const std::size_t other = text_.substr(0, name).find_last_of(kEndsHead);
    return other == std::string_view::npos ? 0 : other + 1;
  }

  void login() {
    const std::string_view before = text_.substr(0, at_);
    const bool is_web = before.ends_with("http") || before.ends_with("https");
    const std::string_view ends = at_ < end_of_head_ ? "" : " \t\n'\"";
    copy_to(at_ + 3);
    const std::string_view rest = text_.substr(at_, text_.find_first_of(ends, at_) - at_);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    std::size_t end = authority.rfind('@');
    // A password may have been written with the signs that end an authority.
    if (end == std::string_view::npos && has_password(authority)) end = rest.rfind('@');
    if (end == std::string_view::npos) return;
    if (!is_web && !is_in(rest.substr(0, end), ':')) return;
    hide_to(at_ + end, at_ + end);
  }

  /// What stands behind its first colon is no port.
  static bool has_password(std::string_view authority) {
    const std::size_t colon = authority.find(':');
    return colon != std::string_view::npos && !authority.starts_with('[') &&
           authority.find_first_not_of("0123456789", colon + 1) != std::string_view::npos;
  }

  std::string_view text_;
  std::size_t end_of_head_;  ///< what is assigned in front of it reaches to the end of the word
  std::size_t at_ = 0;
  std::size_t hidden_to_ = 0;
  OpenQuotes around_;
  std::string out_;
};

std::string program_of(std::string_view word) {
  return std::string(word.substr(word.find_last_of('/') + 1));
}

bool runs_code(const std::string& word) {
  const std::string program = program_of(word);
  return program.ends_with("sh") || program.starts_with("python");
}

/// What follows is a program: `sh -c`, `bash -lc`.
bool awaits_code(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.back() == 'c';
}

}  // namespace

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  bool is_value = false;
  bool is_code = false;
  bool has_interpreter = false;
  for (const std::string& word : words) {
    const bool awaits = awaits_secret(word);
    kept.push_back(is_value && !awaits ? std::string(kHidden) : Hiding(word, is_code).text());
    is_value = awaits;
    has_interpreter |= runs_code(word);
    is_code = has_interpreter && awaits_code(word);
  }
  return kept;
}

std::vector<std::string> program_only(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  return {program_of(words.front())};
}

std::string program_only(const std::string& line) {
  return program_of(std::string_view(line).substr(0, line.find_first_of(kBlanks)));
}

}  // namespace ebb::record
