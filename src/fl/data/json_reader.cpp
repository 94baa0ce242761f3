// SPDX-License-Identifier: Apache-2.0
#include "fl/data/json_reader.h"

#include <charconv>
#include <string_view>
#include <vector>

namespace ebb::fl {

int JsonReader::peek() {
  if (at_ < filled_) return static_cast<unsigned char>(buffer_[at_]);
  if (failed_) return kEnd;
  const auto got = source_.read(buffer_.data(), buffer_.size());
  if (!got) failed_ = got.error();
  taken_before_ += filled_;
  at_ = 0;
  filled_ = got ? *got : 0;
  return filled_ > 0 ? static_cast<unsigned char>(buffer_[0]) : kEnd;
}

int JsonReader::peek_after_space() {
  int next = peek();
  for (; next == ' ' || next == '\n' || next == '\r' || next == '\t'; next = peek())
    ++at_;
  return next;
}

base::Error JsonReader::expected(const char* what, std::uint64_t at) const {
  if (failed_) return *failed_;
  return base::error(base::Code::bad_input, "%s: byte %llu: expected %s", name_.c_str(),
                     static_cast<unsigned long long>(at), what);
}

base::Status JsonReader::take(char mark, const char* what) {
  if (peek_after_space() != mark) return expected(what);
  ++at_;
  return {};
}

base::Result<bool> JsonReader::has_next(char close, bool& is_first) {
  const int next = peek_after_space();
  if (next == close) {
    ++at_;
    return false;
  }
  if (!is_first) {
    if (next != ',') return expected(close == ']' ? "',' or ']'" : "',' or '}'");
    ++at_;
    peek_after_space();
  }
  is_first = false;
  return true;
}

base::Status JsonReader::escaped(std::string& text) {
  const int mark = peek();
  if (mark == kEnd) return expected("the end of a string");
  ++at_;
  if (mark != 'u') {
    static constexpr std::string_view kMarks = "\"\\/bfnrt";
    static constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = kMarks.find(static_cast<char>(mark));
    if (which == kMarks.npos) return expected("an escape of JSON");
    text += kMeant[which];
    return {};
  }
  // Texts are only compared with each other: what an escape means does not matter.
  text += "\\u";
  for (int digit = 0; digit < 4; ++digit) {
    const int next = peek();
    const bool is_digit = (next >= '0' && next <= '9') || (next >= 'a' && next <= 'f') ||
                          (next >= 'A' && next <= 'F');
    if (!is_digit) return expected("four hexadecimal digits");
    text += static_cast<char>(next >= 'A' && next <= 'F' ? next - 'A' + 'a' : next);
    ++at_;
  }
  return {};
}

base::Result<std::string> JsonReader::string(const char* what) {
  if (const auto begins = take('"', what); !begins) return begins.error();
  const std::uint64_t begin = offset();
  std::string text;
  for (int next = peek(); next != '"'; next = peek()) {
    if (next == kEnd || next < ' ') return expected("the end of a string");
    if (text.size() >= kLongestString) return expected("a string of at most 4096 bytes", begin);
    ++at_;
    if (next != '\\') {
      text += static_cast<char>(next);
    } else if (const auto meant = escaped(text); !meant) {
      return meant.error();
    }
  }
  ++at_;
  return text;
}

base::Result<std::string> JsonReader::key() {
  auto text = string("a key");
  if (!text) return text;
  if (const auto colon = take(':', "':'"); !colon) return colon.error();
  peek_after_space();  // for who asks where the value begins
  return text;
}

base::Result<double> JsonReader::number(const char* what) {
  int next = peek_after_space();
  const std::uint64_t begin = offset();
  std::array<char, kLongestNumber> text{};
  std::size_t length = 0;
  const auto is_part = [](int byte) {
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' ||
           byte == 'e' || byte == 'E';
  };
  for (; is_part(next); next = peek()) {
    if (length == text.size()) return expected(what, begin);
    text[length++] = static_cast<char>(next);
    ++at_;
  }
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + length, value);
  if (length == 0 || problem != std::errc() || end != text.data() + length)
    return expected(what, begin);
  return value;
}

base::Status JsonReader::skip() {
  std::vector<char> open;
  do {
    const int next = peek_after_space();
    if (next == '"') {
      if (const auto text = string("a value"); !text) return text.error();
    } else if (next == '[' || next == '{') {
      if (open.size() == kDeepest) return expected("a value that is at most 64 deep");
      ++at_;
      open.push_back(next == '[' ? ']' : '}');
      bool is_first = true;
      const auto more = has_next(open.back(), is_first);
      if (!more) return more.error();
      if (*more) {
        if (open.back() == '}')
          if (const auto name = key(); !name) return name.error();
        continue;
      }
      open.pop_back();
    } else if (next == 't' || next == 'f' || next == 'n') {
      for (const char byte : std::string_view(next == 't'   ? "true"
                                              : next == 'f' ? "false"
                                                            : "null")) {
        if (peek() != byte) return expected("a value");
        ++at_;
      }
    } else if (const auto value = number("a value"); !value) {
      return value.error();
    }
    // What has just ended may end what is around it.
    while (!open.empty()) {
      bool is_first = false;
      const auto more = has_next(open.back(), is_first);
      if (!more) return more.error();
      if (*more) {
        if (open.back() == '}')
          if (const auto name = key(); !name) return name.error();
        break;
      }
      open.pop_back();
    }
  } while (!open.empty());
  return {};
}

base::Status JsonReader::expect_end() {
  if (peek_after_space() == kEnd && !failed_) return {};
  return expected("the end of the file");
}

}  // namespace ebb::fl
