// SPDX-License-Identifier: Apache-2.0
#include "plan/network_file.h"

#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/plain_text.h"
#include "plan/layer_reader.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;
using base::Json;
using ull = unsigned long long;

constexpr std::uint64_t kMostFileBytes = 1 << 20;
constexpr std::size_t kMostName = 60;

/// A name goes onto pages and terminals.
bool is_name(const std::string& name) {
  if (name.empty() || name.size() > kMostName) return false;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

}  // namespace

bool is_network_file(std::string_view model) {
  return model.ends_with(".json") || model.find('/') != std::string_view::npos;
}

base::Result<std::string> read_network_file(const std::string& path) {
  // Whoever reads a FIFO may wait for ever.
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed))
    return error(Code::bad_input, "%s: no such file, expected a JSON description of a model",
                 path.c_str());
  auto text = base::read_file(path, kMostFileBytes);
  if (!text) return error(Code::bad_input, "%s", text.error().message.c_str());
  return text;
}

base::Result<Network> network_from(std::string_view text, const std::string& file,
                                   const std::optional<Picture>& picture, std::uint64_t classes) {
  const auto wrong = [&](const std::string& what) {
    return error(Code::bad_input, "%s: %s", file.c_str(), what.c_str());
  };
  const auto json = base::parse_json(text);
  if (!json) return wrong(json.error().message);
  if (json->as_object() == nullptr) return wrong("expected an object with \"layers\"");
  Network network;
  network.name = base::plain_line(std::filesystem::path(file).stem().string(), kMostName);
  network.classes = classes;
  if (picture) network.picture = *picture;
  const Json* layers = nullptr;
  for (const auto& [key, value] : *json->as_object()) {
    if (key == "name") {
      if (value.as_string() == nullptr || !is_name(*value.as_string()))
        return wrong("name: expected a text of 1 to 60 printable characters");
      network.name = *value.as_string();
    } else if (key == "layers") {
      layers = &value;
    } else {
      return wrong(Json(key.substr(0, kMostName)).text() + ": expected name and layers alone");
    }
  }
  if (layers == nullptr) return wrong("layers is missing");
  LayerReader reader(picture, classes);
  auto read = reader.read(*layers);
  if (!read) return wrong(read.error().message);
  network.layers = std::move(*read);
  return network;
}

base::Result<Network> network_of(const std::string& model, const Picture& picture,
                                 std::uint64_t classes) {
  if (!is_network_file(model)) return network_named(model, picture, classes);
  const auto text = read_network_file(model);
  if (!text) return text.error();
  return network_from(*text, model, picture, classes);
}

}  // namespace ebb::plan
