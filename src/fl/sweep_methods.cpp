// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "fl/select/selector.h"
#include "fl/sweep_words.h"

namespace ebb::fl {
namespace {

using base::Code;

void set_parameter(ParameterValues& values, const std::string& name, double value) {
  const auto known = std::find_if(values.begin(), values.end(),
                                  [&](const auto& pair) { return pair.first == name; });
  if (known != values.end()) {
    known->second = value;
  } else {
    values.emplace_back(name, value);
  }
}

/// `name=value` for every method, `method:name=value` for one.
base::Status add_method_option(const std::string& text, Sweep& sweep) {
  const auto wrong = [&](const char* expected) {
    return base::error(Code::bad_input, "--method-option '%s': expected %s", text.c_str(),
                       expected);
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return wrong("name=value or method:name=value");
  std::string name = text.substr(0, equals);
  const auto value = base::parse_double(text.substr(equals + 1));
  if (!value) return wrong("a number behind the =");
  std::string method;
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
    method = name.substr(0, colon);
    name = name.substr(colon + 1);
    if (std::find(sweep.methods.begin(), sweep.methods.end(), method) == sweep.methods.end())
      return wrong("a method that is simulated in front of the colon");
  }
  for (std::size_t i = 0; i < sweep.methods.size(); ++i)
    if (method.empty() || sweep.methods[i] == method)
      set_parameter(sweep.parameters[i], name, *value);
  return {};
}

}  // namespace

base::Status set_methods(const SweepWords& words, const SweepFile& file, Sweep& sweep) {
  if (!words.compare) {
    sweep.methods = {sweep.config.method};
  } else if (!words.methods.empty()) {
    for (const std::string_view name : base::split(words.methods, ','))
      sweep.methods.emplace_back(base::trimmed(name));
  } else {
    sweep.methods = file.methods;
  }
  if (sweep.methods.empty())
    return base::error(Code::bad_input,
                       "--methods is missing: expected names with commas between them (ebb "
                       "simulate --list shows all)");
  for (std::size_t i = 0; i < sweep.methods.size(); ++i) {
    if (std::find(sweep.methods.begin(), sweep.methods.begin() + static_cast<std::ptrdiff_t>(i),
                  sweep.methods[i]) != sweep.methods.begin() + static_cast<std::ptrdiff_t>(i))
      return base::error(Code::bad_input, "--methods: '%s' stands there twice",
                         sweep.methods[i].c_str());
    const bool is_configured = sweep.methods[i] == sweep.config.method;
    sweep.parameters.push_back(is_configured ? sweep.config.method_parameters : ParameterValues{});
  }
  std::vector<std::string> options = file.method_options;
  options.insert(options.end(), words.method_options.begin(), words.method_options.end());
  for (const std::string& option : options)
    if (const auto added = add_method_option(option, sweep); !added) return added;
  for (std::size_t i = 0; i < sweep.methods.size(); ++i)
    if (const auto made = create_selector(sweep.methods[i], sweep.parameters[i]); !made)
      return made.error();
  return {};
}

}  // namespace ebb::fl
