// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/config_file.h"

#include "base/file.h"

namespace ebb::cli {
namespace {

using base::Code;
using base::Json;

/// A list under one of the keys that a sweep has beside those of a configuration.
base::Status read_sweep(const std::string& key, const Json& list, ConfigFile& words) {
  const auto wrong = [&](const char* what) {
    return base::error(Code::bad_input, "%s: expected %s", key.c_str(), what);
  };
  if (list.as_array() == nullptr) return wrong("a list");
  for (const Json& item : *list.as_array()) {
    if (key == "seeds") {
      if (!item.as_unsigned()) return wrong("whole numbers");
      words.seeds.push_back(*item.as_unsigned());
    } else {
      if (item.as_string() == nullptr) return wrong("texts");
      (key == "methods" ? words.methods : words.method_options).push_back(*item.as_string());
    }
  }
  return {};
}

}  // namespace

base::Result<ConfigFile> read_config_file(const std::string& path) {
  const auto text = base::read_file(path);
  if (!text) return text.error();
  const auto wrong = [&](const base::Error& error) {
    return base::error(Code::bad_input, "%s: %s", path.c_str(), error.message.c_str());
  };
  const auto json = base::parse_json(*text);
  if (!json) return wrong(json.error());
  if (json->as_object() == nullptr)
    return base::error(Code::bad_input, "%s: expected a JSON object with options as keys",
                       path.c_str());
  ConfigFile words;
  Json rest = Json::object();
  for (const auto& [key, value] : *json->as_object()) {
    if (key != "methods" && key != "method_options" && key != "seeds") {
      rest.set(key, value);
    } else if (const auto read = read_sweep(key, value, words); !read) {
      return wrong(read.error());
    }
  }
  auto config = fl::config_from(rest);
  if (!config) return wrong(config.error());
  words.config = *std::move(config);
  return words;
}

}  // namespace ebb::cli
