// SPDX-License-Identifier: Apache-2.0
#include "base/option.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/shell_word.h"
#include "base/text.h"

namespace ebb::base {
namespace {

constexpr const char* kCountWords = "a whole number from 0 to 4294967295";
constexpr const char* kWholeWords = "a whole number from 0 to 18446744073709551615";
constexpr const char* kSmallWords = "a whole number from 0 to 2147483647";

Error wrong_json(std::string_view key, const Json& json, const char* expected) {
  return error(Code::bad_input, "%s: %s, expected %s", std::string(key).c_str(),
               json.text().substr(0, 60).c_str(), expected);
}

Error wrong_text(const Option& option, std::string_view text, const char* expected) {
  return error(Code::bad_input, "%s '%s': expected %s", option.name().c_str(),
               std::string(text.substr(0, 60)).c_str(), expected);
}

template <class Number>
std::optional<Number> narrowed(std::optional<std::uint64_t> number) {
  if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<Number>::max()))
    return {};
  return static_cast<Number>(*number);
}

template <class T>
Status put(const std::optional<T>& value, T& to, const Error& otherwise) {
  if (!value) return otherwise;
  to = *value;
  return {};
}

struct JsonReader {
  const Option& option;
  const Json& json;

  Error wrong(const char* expected) const { return wrong_json(option.key, json, expected); }

  Status operator()(bool* to) const { return put(json.as_bool(), *to, wrong("true or false")); }
  Status operator()(int* to) const {
    return put(narrowed<int>(json.as_unsigned()), *to, wrong(kSmallWords));
  }
  Status operator()(std::uint32_t* to) const {
    return put(narrowed<std::uint32_t>(json.as_unsigned()), *to, wrong(kCountWords));
  }
  Status operator()(std::uint64_t* to) const {
    return put(json.as_unsigned(), *to, wrong(kWholeWords));
  }
  Status operator()(double* to) const { return put(json.as_double(), *to, wrong("a number")); }
  Status operator()(std::string* to) const {
    if (json.as_string() == nullptr) return wrong("a text");
    *to = *json.as_string();
    return {};
  }
  template <class T>
  Status operator()(std::optional<T>* to) const {
    if (json.is_null()) {
      to->reset();
      return {};
    }
    T value{};
    if (const Status read = (*this)(&value); !read)
      return error(Code::bad_input, "%s or null", read.error().message.c_str());
    *to = std::move(value);
    return {};
  }
  Status operator()(std::vector<std::string>* to) const {
    const Json::Array one = {json};
    const Json::Array* many = json.as_array();
    std::vector<std::string> texts;
    for (const Json& item : many != nullptr ? *many : one) {
      if (item.as_string() == nullptr) return wrong("a text or a list of texts");
      texts.push_back(*item.as_string());
    }
    *to = std::move(texts);
    return {};
  }
  Status operator()(Option::Numbers* to) const {
    if (json.as_object() == nullptr) return wrong("an object of numbers");
    Option::Numbers numbers;
    for (const auto& [name, value] : *json.as_object()) {
      if (!value.as_double())
        return wrong_json(std::string(option.key) + "." + name, value, "a number");
      numbers.emplace_back(name, *value.as_double());
    }
    *to = std::move(numbers);
    return {};
  }
  Status operator()(const Choice& to) const {
    if (json.as_string() == nullptr) return wrong("a name");
    return to.set(to.value, *json.as_string());
  }
  Status operator()(const Bytes& to) const {
    if (json.as_string() != nullptr) return set_text(option, *json.as_string());
    if (!json.as_unsigned()) return wrong("bytes, e.g. 25769803776 or \"24GiB\"");
    *to.value = json.as_unsigned();
    return {};
  }
  Status operator()(const CountOrAuto& to) const {
    if (json.as_string() != nullptr) return set_text(option, *json.as_string());
    return (*this)(to.value);
  }
};

struct TextReader {
  const Option& option;
  std::string_view text;

  Error wrong(const char* expected) const { return wrong_text(option, text, expected); }

  Status operator()(bool* to) const {
    if (text != "true" && text != "false") return wrong("true or false");
    *to = text == "true";
    return {};
  }
  Status operator()(int* to) const {
    return put(narrowed<int>(parse_unsigned(text)), *to, wrong(kSmallWords));
  }
  Status operator()(std::uint32_t* to) const {
    return put(narrowed<std::uint32_t>(parse_unsigned(text)), *to, wrong(kCountWords));
  }
  Status operator()(std::uint64_t* to) const {
    return put(parse_unsigned(text), *to, wrong(kWholeWords));
  }
  Status operator()(double* to) const { return put(parse_double(text), *to, wrong("a number")); }
  Status operator()(std::string* to) const {
    *to = text;
    return {};
  }
  template <class T>
  Status operator()(std::optional<T>* to) const {
    T value{};
    if (const Status read = (*this)(&value); !read) return read;
    *to = std::move(value);
    return {};
  }
  Status operator()(std::vector<std::string>* to) const {
    to->emplace_back(text);
    return {};
  }
  Status operator()(Option::Numbers*) const { return wrong("an object, in JSON"); }
  Status operator()(const Choice& to) const { return to.set(to.value, text); }
  Status operator()(const Bytes& to) const {
    const auto bytes = parse_bytes(text);
    if (!bytes) return wrong("a number and a unit, such as 24GiB");
    *to.value = *bytes;
    return {};
  }
  Status operator()(const CountOrAuto& to) const {
    const auto count = text == "auto" ? 0 : narrowed<std::uint32_t>(parse_unsigned(text));
    if (!count || (*count == 0 && text != "auto")) return wrong("a whole number from 1, or auto");
    *to.value = *count;
    return {};
  }
};

struct JsonWriter {
  template <class T>
  Json operator()(const T* value) const {
    return *value;
  }
  Json operator()(const std::uint32_t* value) const { return std::uint64_t{*value}; }
  Json operator()(const std::vector<std::string>* texts) const {
    Json json = Json::array();
    for (const std::string& text : *texts)
      json.push(text);
    return json;
  }
  Json operator()(const Option::Numbers* numbers) const {
    Json json = Json::object();
    for (const auto& [name, value] : *numbers)
      json.set(name, value);
    return json;
  }
  Json operator()(const Choice& choice) const { return choice.name(choice.value); }
  Json operator()(const Bytes& bytes) const { return *bytes.value; }
  Json operator()(const CountOrAuto& count) const {
    return *count.value == 0 ? Json("auto") : Json(std::uint64_t{*count.value});
  }
};

}  // namespace

bool Range::has(double number) const {
  if (!std::isfinite(number)) return false;
  return (least_is_in ? number >= least : number > least) &&
         (most_is_in ? number <= most : number < most);
}

std::string Option::names() const {
  if (!written.empty()) return std::string(written);
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string Option::name() const {
  return std::string(split(names(), ',').front());
}

const Option* find(const Options& options, std::string_view key) {
  for (const Option& option : options)
    if (option.key == key) return &option;
  return nullptr;
}

Json to_json(const Option& option) {
  return std::visit(JsonWriter{}, option.place);
}

std::string help_text(const Option& option) {
  std::string text = option.help;
  for (std::size_t i = 0; i < option.choices.size(); ++i) {
    const bool is_last = i > 0 && i + 1 == option.choices.size();
    text += i == 0 ? ": " : is_last ? " or " : ", ";
    text += shell_word(option.choices[i]);
  }
  return text;
}

std::string default_text(const Option& option) {
  if (!option.shown.empty()) return option.shown;
  const Json json = to_json(option);
  if (json.as_string() != nullptr) return *json.as_string();
  return json.as_double() ? json.text() : "";
}

Status set(const Option& option, const Json& json) {
  return std::visit(JsonReader{option, json}, option.place);
}

Status set_text(const Option& option, std::string_view text) {
  return std::visit(TextReader{option, text}, option.place);
}

Status check(const Options& options) {
  for (const Option& option : options) {
    if (option.range == nullptr) continue;
    // What is not given is right, and JSON has no word for not-a-number.
    const double* real =
        std::holds_alternative<double*>(option.place) ? std::get<double*>(option.place) : nullptr;
    const auto number = real != nullptr ? *real : to_json(option).as_double();
    if (number && !option.range->has(*number))
      return error(Code::bad_input, "%s %g, expected %s", std::string(option.key).c_str(), *number,
                   option.range->expected);
  }
  return {};
}

Option written_down(Option option, std::optional<std::string>& to) {
  option.shown = default_text(option);
  option.last_counts = true;
  option.place = &to;
  return option;
}

}  // namespace ebb::base
