// SPDX-License-Identifier: Apache-2.0
#include "capi/simulator_command.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace ebb::capi {
namespace {

using base::Code;
using base::Json;

constexpr const char* kName = "ebb-simulate";
constexpr const char* kVariable = "EBB_SIMULATE";
constexpr const char* kMethodOption = "--method-option";

bool can_run(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// Where this library lies; "" where that cannot be told.
std::string library_folder() {
  Dl_info here{};
  char resolved[PATH_MAX];
  if (::dladdr(reinterpret_cast<void*>(&library_folder), &here) == 0 || here.dli_fname == nullptr ||
      ::realpath(here.dli_fname, resolved) == nullptr)
    return "";
  const std::string file = resolved;
  return file.substr(0, file.rfind('/'));
}

bool is_word(std::string_view key) {
  return !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == key.npos;
}

/// A text or a number as it is written on a command line.
base::Result<std::string> written(const std::string& key, const Json& value) {
  std::string text;
  if (value.as_string() != nullptr) {
    text = *value.as_string();
  } else if (value.as_double() || value.as_int() || value.as_unsigned()) {
    text = value.text();
  } else {
    return base::error(Code::bad_input,
                       "%s: %s, expected text, a number, true, false or a list of texts or numbers",
                       key.c_str(), value.text().substr(0, 60).c_str());
  }
  if (text.find('\0') != text.npos)
    return base::error(Code::bad_input, "%s: expected text without a zero byte", key.c_str());
  return text;
}

/// A list is written with commas, but for what may be given more than once.
base::Status add_list(const std::string& key, const std::string& name, const Json::Array& values,
                      std::vector<std::string>& words) {
  std::string together;
  for (const Json& value : values) {
    const auto text = written(key, value);
    if (!text) return text.error();
    if (name == kMethodOption) {
      words.push_back(name + "=" + *text);
    } else {
      together += (together.empty() ? "" : ",") + *text;
    }
  }
  if (!together.empty()) words.push_back(name + "=" + together);
  return {};
}

base::Status add_parameters(const std::string& key, const Json::Object& parameters,
                            std::vector<std::string>& words) {
  for (const auto& [name, value] : parameters) {
    const auto text = written(key, value);
    if (!text) return text.error();
    words.push_back(std::string(kMethodOption) + "=" + name + "=" + *text);
  }
  return {};
}

std::string name_of(std::string key) {
  if (key == "method_options") return kMethodOption;
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

base::Status add_option(const std::string& key, const Json& value,
                        std::vector<std::string>& words) {
  if (!is_word(key))
    return base::error(Code::bad_input,
                       "option '%s': expected one of ebb simulate, with underscores",
                       key.substr(0, 60).c_str());
  if (key == "json" || key == "stream" || key == "quiet" || key == "help")
    return base::error(Code::bad_input, "option '%s': only for the command line", key.c_str());
  if (value.is_null()) return {};
  const std::string name = name_of(key);
  if (const auto flag = value.as_bool()) {
    if (*flag) words.push_back(name);
    return {};
  }
  if (value.is_array()) return add_list(key, name, *value.as_array(), words);
  if (value.is_object() && key == "method_parameters")
    return add_parameters(key, *value.as_object(), words);
  const auto text = written(key, value);
  if (!text) return text.error();
  if (!text->empty()) words.push_back(name + "=" + *text);
  return {};
}

}  // namespace

base::Result<std::string> simulator_program() {
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    if (can_run(named)) return std::string(named);
    return base::error(Code::unavailable,
                       "EBB_SIMULATE '%s': expected the program ebb-simulate there", named);
  }
  const std::string here = library_folder();
  std::vector<std::string> folders;
  // Together in a Python package; else apart, as CMake builds and installs them.
  for (const char* way : {"", "/../bin", "/../../bin"})
    if (!here.empty()) folders.push_back(here + way);
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : base::split(path == nullptr ? "" : path, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  for (const std::string& folder : folders)
    if (const std::string file = folder + "/" + kName; can_run(file)) return file;
  return base::error(
      Code::unavailable,
      "simulations need the program ebb-simulate, which is neither beside the library (%s) nor on "
      "the PATH: Ebb builds it where libtorch and CLI11 are (Debian: apt install libtorch-dev "
      "libcli11-dev), and portable wheels do not carry it; name it in EBB_SIMULATE",
      here.c_str());
}

base::Result<std::vector<std::string>> simulator_words(std::string_view verb, const Json& options) {
  if (verb != "simulate" && verb != "compare")
    return base::error(Code::bad_input, "verb '%s': expected simulate or compare",
                       std::string(verb.substr(0, 60)).c_str());
  const Json::Object* members = options.as_object();
  if (members == nullptr) return base::error(Code::bad_input, "options: expected a JSON object");
  std::vector<std::string> words = {kName, std::string(verb), "--json", "--quiet"};
  // A list and a plan come at once: nothing happens in rounds.
  const auto is_set = [&](const char* key) {
    const Json* value = options.find(key);
    return value != nullptr && value->as_bool().value_or(false);
  };
  if (!is_set("list") && !is_set("dry_run")) words.emplace_back("--stream");
  for (const auto& [key, value] : *members)
    if (const auto added = add_option(key, value, words); !added) return added.error();
  return words;
}

}  // namespace ebb::capi
