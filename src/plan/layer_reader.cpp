// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_reader.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace ebb::plan {
namespace {

using base::Code;
using base::error;
using base::Json;
using Kind = NetworkLayer::Kind;
using ull = unsigned long long;

// Far beyond what anybody trains so.
constexpr std::size_t kMostLayersOfAFile = 256;
constexpr int kMostDepth = 4;
constexpr std::uint64_t kMostOutputs = 1 << 16;
constexpr std::uint64_t kMostKernel = 31;
constexpr std::uint64_t kMostStride = 255;

struct LayerName {
  std::string_view type;
  Kind kind;
};
constexpr std::array kLayerNames = {
    LayerName{"conv2d", Kind::convolution},
    LayerName{"max_pool2d", Kind::max_pool},
    LayerName{"global_avg_pool", Kind::average_pool},
    LayerName{"relu", Kind::relu},
    LayerName{"group_norm", Kind::group_norm},
    LayerName{"dropout", Kind::dropout},
    LayerName{"linear", Kind::linear},
    LayerName{"residual", Kind::residual},
};

base::Result<Kind> kind_from(const Json* type, const std::string& where) {
  std::string known;
  std::vector<std::string_view> names;
  for (const LayerName& one : kLayerNames) {
    if (type != nullptr && type->as_string() != nullptr && *type->as_string() == one.type)
      return one.kind;
    known += (known.empty() ? "" : ", ") + std::string(one.type);
    names.push_back(one.type);
  }
  if (type == nullptr)
    return error(Code::bad_input, "%s: type is missing, expected one of %s", where.c_str(),
                 known.c_str());
  if (type->as_string() != nullptr) {
    if (const auto guess = base::nearest(*type->as_string(), names))
      return error(Code::bad_input, "%s.type: %s, did you mean \"%s\"?", where.c_str(),
                   type->text().substr(0, 60).c_str(), std::string(*guess).c_str());
  }
  return error(Code::bad_input, "%s.type: %s, expected one of %s", where.c_str(),
               type->text().substr(0, 60).c_str(), known.c_str());
}

}  // namespace

/// The members of one layer. Remembers what is the first thing wrong with them.
class LayerReader::Members {
 public:
  Members(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  base::Status status() const { return status_; }

  std::uint64_t whole(std::string_view key, std::uint64_t least, std::uint64_t most,
                      std::optional<std::uint64_t> otherwise = {}) {
    const Json* found = take(key);
    if (found == nullptr) {
      if (!otherwise) wrong(key, " is missing");
      return otherwise.value_or(least);
    }
    const auto number = found->as_unsigned();
    if (number && *number >= least && *number <= most) return *number;
    wrong(key, base::format_text(": %s, expected %llu to %llu", shown(*found).c_str(), ull{least},
                                 ull{most}));
    return least;
  }
  bool flag(std::string_view key, bool otherwise) {
    const Json* found = take(key);
    if (found == nullptr) return otherwise;
    if (!found->as_bool()) wrong(key, ": " + shown(*found) + ", expected true or false");
    return found->as_bool().value_or(otherwise);
  }
  double share(std::string_view key) {
    const Json* found = take(key);
    if (found == nullptr) {
      wrong(key, " is missing");
      return 0;
    }
    const auto number = found->as_double();
    if (number && *number >= 0 && *number < 1) return *number;
    wrong(key, ": " + shown(*found) + ", expected 0 or more and below 1");
    return 0;
  }
  /// A width, or "classes".
  std::uint64_t width(std::string_view key, std::uint64_t classes) {
    const Json* found = json_.find(key);
    if (found != nullptr && found->as_string() != nullptr && *found->as_string() == "classes") {
      take(key);
      return classes;
    }
    return whole(key, 1, kMostOutputs);
  }
  const Json* take(std::string_view key) {
    taken_.push_back(key);
    return json_.find(key);
  }
  void wrong(std::string_view key, const std::string& what) {
    if (status_)
      status_ =
          error(Code::bad_input, "%s.%s%s", where_.c_str(), std::string(key).c_str(), what.c_str());
  }
  /// That there was nothing else.
  void end() {
    for (const auto& [key, value] : *json_.as_object()) {
      bool known = key == "type";
      for (const std::string_view taken : taken_)
        known = known || key == taken;
      if (known) continue;
      std::string expected = "type";
      for (const std::string_view taken : taken_)
        expected += ", " + std::string(taken);
      if (status_)
        status_ = error(Code::bad_input, "%s: %s, expected %s alone", where_.c_str(),
                        Json(key.substr(0, 60)).text().c_str(), expected.c_str());
    }
  }

 private:
  static std::string shown(const Json& json) { return json.text().substr(0, 60); }

  const Json& json_;
  const std::string where_;
  std::vector<std::string_view> taken_;
  base::Status status_;
};

base::Result<std::vector<NetworkLayer>> LayerReader::read(const Json& layers) {
  if (const auto sensible = flow_.begin(); !sensible) return sensible.error();
  auto read = read_list(layers, "layers", 0, flow_);
  if (!read) return read;
  if (const auto sound = flow_.end(); !sound) return sound.error();
  return read;
}

base::Result<std::vector<NetworkLayer>> LayerReader::read_list(const Json& list,
                                                               const std::string& where, int depth,
                                                               LayerFlow& flow) {
  if (list.as_array() == nullptr || list.as_array()->empty())
    return error(Code::bad_input, "%s: expected a list of layers", where.c_str());
  std::vector<NetworkLayer> layers;
  for (const Json& json : *list.as_array()) {
    const std::string here = base::format_text("%s[%zu]", where.c_str(), layers.size());
    if (++layers_ > kMostLayersOfAFile)
      return error(Code::bad_input, "%s: expected at most %zu layers in all", here.c_str(),
                   kMostLayersOfAFile);
    auto layer = read_one(json, here, depth, flow);
    if (!layer) return layer.error();
    layers.push_back(std::move(*layer));
  }
  return layers;
}

base::Result<NetworkLayer> LayerReader::read_one(const Json& json, const std::string& where,
                                                 int depth, LayerFlow& flow) {
  if (json.as_object() == nullptr)
    return error(Code::bad_input, "%s: expected an object such as {\"type\": \"relu\"}",
                 where.c_str());
  const auto kind = kind_from(json.find("type"), where);
  if (!kind) return kind.error();
  Members members(json, where);
  NetworkLayer layer;
  layer.kind = *kind;
  switch (*kind) {
    case Kind::convolution:
      layer.outputs = members.whole("out_channels", 1, kMostOutputs);
      layer.kernel = members.whole("kernel_size", 1, kMostKernel);
      layer.stride = members.whole("stride", 1, kMostStride, 1);
      layer.padding = members.whole("padding", 0, layer.kernel - 1, 0);
      layer.bias = members.flag("bias", true);
      break;
    case Kind::max_pool:
      layer.kernel = members.whole("kernel_size", 1, kMostKernel);
      break;
    case Kind::group_norm:
      layer.groups = members.whole("num_groups", 1, kMostOutputs);
      break;
    case Kind::dropout:
      layer.rate = members.share("p");
      break;
    case Kind::linear:
      layer.outputs = members.width("out_features", flow_.classes());
      layer.bias = members.flag("bias", true);
      break;
    case Kind::residual:
      members.take("body");
      members.take("shortcut");
      break;
    case Kind::average_pool:
    case Kind::relu:
      break;
  }
  members.end();
  if (!members.status()) return members.status().error();
  if (depth > 0 && *kind == Kind::linear)
    return error(Code::bad_input, "%s: linear, expected none within a residual layer",
                 where.c_str());
  if (depth == kMostDepth && *kind == Kind::residual)
    return error(Code::bad_input, "%s: expected residual layers at most %d deep", where.c_str(),
                 kMostDepth);
  if (const auto passed = flow.pass(layer, where); !passed) return passed.error();
  if (*kind == Kind::residual) {
    if (const auto read = read_residual(members, depth, flow, layer); !read) return read.error();
  }
  return layer;
}

base::Status LayerReader::read_residual(const Members& members, int depth, LayerFlow& flow,
                                        NetworkLayer& layer) {
  Members lists = members;
  const std::string& where = members.where();
  const Json* body = lists.take("body");
  if (body == nullptr) return error(Code::bad_input, "%s.body is missing", where.c_str());
  LayerFlow around = flow.around();
  auto read = read_list(*body, where + ".body", depth + 1, flow);
  if (!read) return read.error();
  layer.body = std::move(*read);
  if (const Json* shortcut = lists.take("shortcut")) {
    read = read_list(*shortcut, where + ".shortcut", depth + 1, around);
    if (!read) return read.error();
    layer.around = std::move(*read);
  }
  return flow.join(around, where);
}

}  // namespace ebb::plan
