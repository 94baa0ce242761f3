// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>

#include "fl/config.h"
#include "fl/names.h"

namespace ebb::fl {
namespace {

base::Error wrong_kind(std::string_view key, const base::Json& json, const char* expected) {
  return base::error(base::Code::bad_input, "%s: %s, expected %s", std::string(key).c_str(),
                     json.text().substr(0, 60).c_str(), expected);
}

base::Json json_of(const std::string& value) {
  return value;
}
base::Json json_of(std::uint32_t value) {
  return std::uint64_t{value};
}
base::Json json_of(std::uint64_t value) {
  return value;
}
base::Json json_of(double value) {
  return value;
}
base::Json json_of(const std::optional<double>& value) {
  return value;
}
base::Json json_of(const ParameterValues& values) {
  base::Json json = base::Json::object();
  for (const auto& [name, value] : values)
    json.set(name, value);
  return json;
}
template <class T>
requires std::is_enum_v<T> base::Json json_of(T value) {
  return name_of(value);
}

base::Status read(std::string_view key, const base::Json& json, std::string& into) {
  if (json.as_string() == nullptr) return wrong_kind(key, json, "a text");
  into = *json.as_string();
  return {};
}

base::Status read(std::string_view key, const base::Json& json, std::uint64_t& into) {
  const auto value = json.as_unsigned();
  if (!value) return wrong_kind(key, json, "a whole number from 0 to 18446744073709551615");
  into = *value;
  return {};
}

base::Status read(std::string_view key, const base::Json& json, std::uint32_t& into) {
  const auto value = json.as_unsigned();
  if (!value || *value > std::numeric_limits<std::uint32_t>::max())
    return wrong_kind(key, json, "a whole number from 0 to 4294967295");
  into = static_cast<std::uint32_t>(*value);
  return {};
}

base::Status read(std::string_view key, const base::Json& json, double& into) {
  const auto value = json.as_double();
  if (!value) return wrong_kind(key, json, "a number");
  into = *value;
  return {};
}

base::Status read(std::string_view key, const base::Json& json, std::optional<double>& into) {
  const auto value = json.as_double();
  if (!value && !json.is_null()) return wrong_kind(key, json, "a number or null");
  into = value;
  return {};
}

base::Status read(std::string_view key, const base::Json& json, ParameterValues& into) {
  const base::Json::Object* members = json.as_object();
  if (members == nullptr) return wrong_kind(key, json, "an object of numbers");
  ParameterValues values;
  for (const auto& [name, value] : *members) {
    const auto number = value.as_double();
    if (!number) return wrong_kind(std::string(key) + "." + name, value, "a number");
    values.emplace_back(name, *number);
  }
  into = std::move(values);
  return {};
}

template <class T>
base::Status read_name(std::string_view key, const base::Json& json, T& into,
                       base::Result<T> (*from)(std::string_view)) {
  if (json.as_string() == nullptr) return wrong_kind(key, json, "a name");
  const auto value = from(*json.as_string());
  if (!value) return value.error();
  into = *value;
  return {};
}
base::Status read(std::string_view key, const base::Json& json, PartitionKind& into) {
  return read_name(key, json, into, partition_kind_from);
}
base::Status read(std::string_view key, const base::Json& json, SizeSkew& into) {
  return read_name(key, json, into, size_skew_from);
}
base::Status read(std::string_view key, const base::Json& json, Workflow& into) {
  return read_name(key, json, into, workflow_from);
}
base::Status read(std::string_view key, const base::Json& json, Rule& into) {
  return read_name(key, json, into, rule_from);
}

struct Field {
  std::string_view key;
  std::function<base::Json(const Config&)> get;
  std::function<base::Status(Config&, const base::Json&)> set;
};

/// `member` gives the field of a Config, constant or not.
template <class Member>
Field field(std::string_view key, Member member) {
  return {key, [member](const Config& config) { return json_of(member(config)); },
          [key, member](Config& config, const base::Json& json) {
            return read(key, json, member(config));
          }};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {
      field(
          "dataset", [](auto& c) -> auto& { return c.dataset; }),
      field(
          "synthetic_channels", [](auto& c) -> auto& { return c.synthetic.picture.channels; }),
      field(
          "synthetic_height", [](auto& c) -> auto& { return c.synthetic.picture.height; }),
      field(
          "synthetic_width", [](auto& c) -> auto& { return c.synthetic.picture.width; }),
      field(
          "synthetic_classes", [](auto& c) -> auto& { return c.synthetic.classes; }),
      field(
          "synthetic_train", [](auto& c) -> auto& { return c.synthetic.train; }),
      field(
          "synthetic_test", [](auto& c) -> auto& { return c.synthetic.test; }),
      field(
          "model", [](auto& c) -> auto& { return c.model; }),
      field(
          "partition", [](auto& c) -> auto& { return c.partition.kind; }),
      field(
          "alpha", [](auto& c) -> auto& { return c.partition.alpha; }),
      field(
          "shards_per_client", [](auto& c) -> auto& { return c.partition.shards_per_client; }),
      field(
          "sizes", [](auto& c) -> auto& { return c.partition.sizes; }),
      field(
          "size_sigma", [](auto& c) -> auto& { return c.partition.size_sigma; }),
      field(
          "size_alpha", [](auto& c) -> auto& { return c.partition.size_alpha; }),
      field(
          "clients", [](auto& c) -> auto& { return c.clients; }),
      field(
          "per_round", [](auto& c) -> auto& { return c.per_round; }),
      field(
          "rounds", [](auto& c) -> auto& { return c.rounds; }),
      field(
          "epochs", [](auto& c) -> auto& { return c.epochs; }),
      field(
          "batch", [](auto& c) -> auto& { return c.batch; }),
      field(
          "lr", [](auto& c) -> auto& { return c.lr; }),
      field(
          "seed", [](auto& c) -> auto& { return c.seed; }),
      field(
          "eval_every", [](auto& c) -> auto& { return c.eval_every; }),
      field(
          "method", [](auto& c) -> auto& { return c.method; }),
      field(
          "method_parameters", [](auto& c) -> auto& { return c.method_parameters; }),
      field(
          "workflow", [](auto& c) -> auto& { return c.workflow; }),
      field(
          "aggregation", [](auto& c) -> auto& { return c.aggregation.rule; }),
      field(
          "proximal", [](auto& c) -> auto& { return c.aggregation.proximal; }),
      field(
          "server_lr", [](auto& c) -> auto& { return c.aggregation.server_lr; }),
      field(
          "momentum", [](auto& c) -> auto& { return c.aggregation.momentum; }),
      field(
          "beta2", [](auto& c) -> auto& { return c.aggregation.beta2; }),
      field(
          "tau", [](auto& c) -> auto& { return c.aggregation.tau; }),
      field(
          "trim", [](auto& c) -> auto& { return c.aggregation.trim; }),
      field(
          "dropout", [](auto& c) -> auto& { return c.world.dropout; }),
      field(
          "deadline", [](auto& c) -> auto& { return c.world.deadline; }),
      field(
          "staleness", [](auto& c) -> auto& { return c.world.staleness; }),
      field(
          "dp_clip", [](auto& c) -> auto& { return c.privacy.clip; }),
      field(
          "dp_noise", [](auto& c) -> auto& { return c.privacy.noise; }),
      field(
          "dp_delta", [](auto& c) -> auto& { return c.privacy.delta; }),
      field(
          "backend", [](auto& c) -> auto& { return c.backend; }),
  };
  return all;
}

const Field* field_of(std::string_view key) {
  for (const Field& field : fields())
    if (field.key == key) return &field;
  return nullptr;
}

}  // namespace

base::Json to_json(const Config& config) {
  base::Json json = base::Json::object();
  for (const Field& field : fields())
    json.set(field.key, field.get(config));
  return json;
}

base::Result<Config> config_from(const base::Json& json, Config over) {
  const base::Json::Object* members = json.as_object();
  if (members == nullptr)
    return base::error(base::Code::bad_input, "configuration: %s, expected an object",
                       json.text().substr(0, 60).c_str());
  for (const auto& [key, value] : *members) {
    const Field* const found = field_of(key);
    if (found == nullptr) {
      std::vector<std::string_view> known;
      for (const Field& field : fields())
        known.push_back(field.key);
      return unknown_name("option", key, known);
    }
    if (const auto set = found->set(over, value); !set) return set.error();
  }
  over.synthetic.seed = over.seed;
  return over;
}

}  // namespace ebb::fl
