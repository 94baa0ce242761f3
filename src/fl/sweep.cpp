// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep.h"

#include <filesystem>

#include "base/file.h"

namespace ebb::fl {
namespace {

using base::Code;
using base::Json;

/// A list under one of the keys that a sweep has beside those of a configuration.
base::Status read_list(const std::string& key, const Json& list, SweepFile& words) {
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

base::Result<SweepFile> read_sweep(const std::string& path) {
  // Read to be checked, and once more by the program that simulates: a pipe has its content only
  // once.
  std::error_code failure;
  const auto kind = std::filesystem::status(path, failure).type();
  if (kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::not_found && !failure)
    return base::error(Code::bad_input, "%s: expected a regular file, which can be read twice",
                       path.c_str());
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
  SweepFile words;
  const base::Options nvflare = options_of(words.nvflare);
  Json rest = Json::object();
  for (const auto& [key, value] : *json->as_object()) {
    if (const base::Option* option = base::find(nvflare, key); option != nullptr) {
      if (const auto read = base::set(*option, value); !read) return wrong(read.error());
    } else if (key != "methods" && key != "method_options" && key != "seeds") {
      rest.set(key, value);
    } else if (const auto read = read_list(key, value, words); !read) {
      return wrong(read.error());
    }
  }
  auto config = config_from(rest);
  if (!config) return wrong(config.error());
  words.config = *std::move(config);
  return words;
}

Config Sweep::config_of(std::size_t method, std::size_t seed) const {
  Config one = config;
  one.method = methods[method];
  one.method_parameters = parameters[method];
  one.seed = seeds[seed];
  one.synthetic.seed = one.seed;
  return one;
}

Json to_json(const Sweep& sweep) {
  Json json = to_json(sweep.config);
  Json methods = Json::array();
  Json options = Json::array();
  for (std::size_t i = 0; i < sweep.methods.size(); ++i) {
    methods.push(sweep.methods[i]);
    for (const auto& [name, value] : sweep.parameters[i])
      options.push(sweep.methods[i] + ":" + name + "=" + Json(value).text());
  }
  Json seeds = Json::array();
  for (const std::uint64_t seed : sweep.seeds)
    seeds.push(seed);
  return json.set("methods", std::move(methods))
      .set("method_options", std::move(options))
      .set("seeds", std::move(seeds));
}

}  // namespace ebb::fl
