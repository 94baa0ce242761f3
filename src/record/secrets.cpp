// SPDX-License-Identifier: Apache-2.0
#include "record/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace ebb::record {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::string_view kBlanks = " \t\n\r\v\f";
constexpr std::string_view kQuotes = "'\"";

bool is_in(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

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

/// Goes through a text once and hides what it has to.
class Hiding {
 public:
  explicit Hiding(std::string_view text) : text_(text) {}

  std::string text() {
    while (at_ < text_.size()) {
      if (is_part_of_name(text_[at_])) {
        name();
      } else if (text_.substr(at_, 3) == "://") {
        login();
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  void copy_to(std::size_t end) {
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  std::size_t behind(std::string_view set, std::size_t from) const {
    return std::min(text_.find_first_not_of(set, from), text_.size());
  }

  void name() {
    const std::size_t start = at_;
    std::size_t end = start;
    while (end < text_.size() && is_part_of_name(text_[end]))
      ++end;
    const std::string_view name = text_.substr(start, end - start);
    copy_to(end);
    // `name=`, `name: ` and `"name": `, but not the beginning of an address.
    const std::size_t sign = behind(" ", behind(kQuotes, end));
    const bool assigns =
        sign < text_.size() && is_in("=:", text_[sign]) && text_.substr(sign, 3) != "://";
    if (assigns && (names_secret(name) || normal_name(name).ends_with("_key"))) {
      copy_to(sign + 1);
      value();
    } else if (awaits_secret(name) && end < text_.size()) {
      value();
    }
  }

  /// Hides what comes next: up to the end of its quotes, or to a blank.
  void value() {
    copy_to(behind(" \t\n\r\v\f,'\"", at_));
    if (at_ == text_.size()) return;
    // Another option of this kind has a value of its own.
    std::size_t end = at_;
    while (end < text_.size() && is_part_of_name(text_[end]))
      ++end;
    if (awaits_secret(text_.substr(at_, end - at_))) return;
    const char before = at_ > 0 ? text_[at_ - 1] : ' ';
    end = is_in(kQuotes, before) ? text_.find(before, at_) : text_.find_first_of(kBlanks, at_);
    out_ += kHidden;
    at_ = std::min(end, text_.size());
  }

  void login() {
    const bool is_web = out_.ends_with("http") || out_.ends_with("https");
    copy_to(at_ + 3);
    const std::string_view authority =
        text_.substr(at_, text_.find_first_of("/?#'\" \t\n", at_) - at_);
    const std::size_t end = authority.rfind('@');
    if (end == std::string_view::npos) return;
    if (!is_web && !is_in(authority.substr(0, end), ':')) return;
    out_ += kHidden;
    at_ += end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

std::string program_of(std::string_view word) {
  return std::string(word.substr(word.find_last_of('/') + 1));
}

}  // namespace

std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  bool is_value = false;
  for (const std::string& word : words) {
    const bool awaits = awaits_secret(word);
    kept.push_back(is_value && !awaits ? std::string(kHidden) : Hiding(word).text());
    is_value = awaits;
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
