// SPDX-License-Identifier: Apache-2.0
#include "serve/plan_form.h"

#include <algorithm>
#include <utility>

#include "base/plain_text.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "plan/options.h"

namespace ebb::serve {
namespace {

using base::Code;
using base::error;

constexpr std::string_view kKind = "kind";
constexpr const char* kExample = "kind=transformer&preset=gpt2";
constexpr std::size_t kLongestValue = 60;
constexpr std::string_view kTrue = "true";

std::string one_line(const std::string& text) {
  return base::plain_line(text, kLongestValue);
}

/// Only what has a place on a form.
base::Options on_forms(base::Options options) {
  std::erase_if(options, [](const base::Option& option) { return option.group.empty(); });
  return options;
}

/// Values that are given once, each under a name that is known.
base::Status check_names(const Query& query, const base::Options& options, const char* kind) {
  std::vector<std::string_view> known = {kKind};
  for (const base::Option& option : options)
    known.push_back(option.key);
  for (std::size_t i = 0; i < query.size(); ++i) {
    const std::string& name = query[i].first;
    const std::string& value = query[i].second;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto guess = base::nearest(name, known);
      return error(Code::bad_input, "%s: no such field of the plan of a %s%s",
                   one_line(name).c_str(), kind,
                   guess ? (": did you mean " + std::string(*guess) + "?").c_str() : "");
    }
    const auto is_same = [&](const auto& other) { return other.first == name; };
    const auto before = query.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(query.begin(), before, is_same))
      return error(Code::bad_input, "%s: given twice", name.c_str());
    // Whatever is a value is written so; anything else could not be shown as it is.
    if (std::any_of(value.begin(), value.end(), [](char c) { return c < ' ' || c > '~'; }))
      return error(Code::bad_input, "%s: expected letters, digits and signs of ASCII",
                   name.c_str());
    if (value.size() > kLongestValue)
      return error(Code::bad_input, "%s: expected at most %zu characters", name.c_str(),
                   kLongestValue);
  }
  return {};
}

/// That what is chosen is on offer: where a command takes the name of a file, too, a form does not.
base::Status check_choice(const base::Option& option, const std::string& value) {
  const std::vector<std::string_view>& choices = option.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end())
    return {};
  const std::string start = std::string(option.key) + " '" + value + "': ";
  if (const auto guess = base::nearest(value, choices))
    return error(Code::bad_input, "%sdid you mean %s?", start.c_str(), std::string(*guess).c_str());
  std::string known;
  for (const std::string_view choice : choices)
    known += (known.empty() ? "" : ", ") + std::string(choice);
  return error(Code::bad_input, "%sexpected one of %s", start.c_str(), known.c_str());
}

template <class Words>
base::Result<Words> words_of(const Query& values) {
  Words words;
  const base::Options options = plan::options_of(words);
  for (const auto& [name, value] : values) {
    const base::Option& option = *base::find(options, name);
    if (const auto known = check_choice(option, value); !known) return known.error();
    if (const auto set = base::set_text(option, value); !set) return set.error();
  }
  return words;
}

template <class Words>
base::Result<PlanRequest> request_with(const Words& words) {
  const auto step = plan::request_of(words);
  if (!step) return step.error();
  const auto cap = plan::cap_of(words);
  if (!cap) return cap.error();
  return PlanRequest{*step, *cap};
}

page::Field::Kind kind_of(const base::Option& option) {
  using Kind = page::Field::Kind;
  if (!option.choices.empty()) return Kind::choice;
  if (std::holds_alternative<bool*>(option.place)) return Kind::flag;
  const bool is_text = std::holds_alternative<base::Bytes>(option.place) ||
                       std::holds_alternative<std::string*>(option.place) ||
                       std::holds_alternative<std::optional<std::string>*>(option.place);
  return is_text ? Kind::text : Kind::number;
}

page::Field field_of(const base::Option& option, const std::string& value) {
  page::Field field;
  field.name = option.key;
  field.label = option.name();
  field.label.erase(0, field.label.find_first_not_of('-'));
  field.help = option.help;
  field.kind = kind_of(option);
  field.value = value;
  field.otherwise = base::default_text(option);
  field.choices.assign(option.choices.begin(), option.choices.end());
  field.required = option.required;
  return field;
}

}  // namespace

const char* PlanForm::word_of(Kind kind) {
  return kind == Kind::model ? "model" : "transformer";
}

base::Options PlanForm::options_of(Kind kind) {
  // What they say of themselves: nothing is set through them.
  static plan::TransformerOptions transformer;
  static plan::NetworkOptions model;
  return on_forms(kind == Kind::model ? plan::options_of(model) : plan::options_of(transformer));
}

base::Result<PlanForm> PlanForm::read(std::string_view text) {
  if (!is_well_formed(text))
    return error(Code::bad_input, "the address: expected two hexadecimal digits behind each %%");
  Query query = read_query(text.empty() ? kExample : text);
  PlanForm form;
  const std::string kind = value_of(query, kKind);
  if (kind == word_of(Kind::model)) {
    form.kind_ = Kind::model;
  } else if (kind != word_of(Kind::transformer)) {
    return error(Code::bad_input, "kind '%s': expected transformer or model",
                 one_line(kind).c_str());
  }
  const base::Options options = options_of(form.kind_);
  if (const auto known = check_names(query, options, word_of(form.kind_)); !known)
    return known.error();
  for (const base::Option& option : options) {
    std::string value = value_of(query, option.key);
    // What a form shows where nothing was chosen.
    if (value.empty() && option.required) value = option.choices.front();
    if (!value.empty()) form.values_.emplace_back(option.key, std::move(value));
  }
  return form;
}

std::string PlanForm::query() const {
  std::string text = std::string(kKind) + "=" + word_of(kind_);
  for (const auto& [name, value] : values_)
    text += "&" + name + "=" + encoded(value);
  return text;
}

base::Result<PlanRequest> PlanForm::request() const {
  if (kind_ == Kind::model) {
    const auto words = words_of<plan::NetworkOptions>(values_);
    if (!words) return words.error();
    return request_with(*words);
  }
  const auto words = words_of<plan::TransformerOptions>(values_);
  if (!words) return words.error();
  if (!words->preset && !words->architecture)
    return error(Code::bad_input,
                 "what to plan is missing: expected a preset, or arch, layers, d-model, heads and "
                 "vocab");
  return request_with(*words);
}

std::string PlanForm::command() const {
  std::string command = std::string("ebb plan ") + word_of(kind_);
  const base::Options options = options_of(kind_);
  for (const auto& [key, value] : values_) {
    const base::Option& option = *base::find(options, key);
    const std::string name = option.name();
    const bool is_flag = std::holds_alternative<bool*>(option.place);
    if (is_flag && value != kTrue) continue;
    if (name.starts_with("--")) command += " " + name;
    if (is_flag) continue;
    // "-0" would be taken for an option.
    command += name.starts_with("--") && value.starts_with('-') ? "=" : " ";
    command += base::shell_word(value);
  }
  // The page always says what fits.
  return value_of(values_, "cap").empty() ? command : command + " --fit";
}

page::FormKind PlanForm::form_of(Kind kind, const Query& values) {
  page::FormKind form;
  form.name = word_of(kind);
  form.label = kind == Kind::model ? "Network" : "Transformer";
  const auto find = [&](std::string_view name) {
    return std::find_if(form.groups.begin(), form.groups.end(),
                        [&](const auto& one) { return one.name == name; });
  };
  for (const base::Option& option : options_of(kind)) {
    auto group = find(option.group);
    if (group == form.groups.end()) {
      const bool folded = option.group == plan::kShapeGroup || option.group == plan::kDevicesGroup;
      form.groups.push_back({std::string(option.group), folded, {}});
      group = form.groups.end() - 1;
    }
    group->fields.push_back(field_of(option, value_of(values, option.key)));
  }
  // What it has to fit into is asked before the many things that decide about it.
  const auto device = find(plan::kDeviceGroup);
  std::rotate(find(plan::kTrainingGroup), device, device + 1);
  return form;
}

page::Form PlanForm::shown() const {
  page::Form form;
  for (const Kind kind : {Kind::transformer, Kind::model})
    form.kinds.push_back(form_of(kind, kind == kind_ ? values_ : Query{}));
  form.kind = word_of(kind_);
  form.document = "plan/document";
  return form;
}

}  // namespace ebb::serve
