// SPDX-License-Identifier: Apache-2.0
#include "capi/planned_steps.h"

#include <set>
#include <string>

#include "plan/fit.h"
#include "plan/options.h"

namespace ebb::capi {
namespace {

using base::Code;
using base::Json;

/// Takes members out of an object; what is wrong first is remembered until done().
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  void take(const char* key, std::optional<std::string>& to) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (value->as_string() == nullptr) return wrong(key, "text");
    to = *value->as_string();
  }
  void take(const char* key, std::optional<std::uint64_t>& to) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->as_unsigned()) return wrong(key, "a number of 0 or more");
    to = value->as_unsigned();
  }
  void take(const char* key, std::optional<int>& to) {
    std::optional<std::uint64_t> number;
    take(key, number);
    if (number && *number > 1000) return wrong(key, "a small number");
    if (number) to = static_cast<int>(*number);
  }
  void take(const char* key, std::optional<double>& to) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->as_double()) return wrong(key, "a number");
    to = value->as_double();
  }
  void take(const char* key, std::uint64_t& to) {
    std::optional<std::uint64_t> number;
    take(key, number);
    to = number.value_or(to);
  }
  void take(const char* key, bool& to) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->as_bool()) return wrong(key, "true or false");
    to = *value->as_bool();
  }
  /// Bytes as a number or as text, e.g. "24GiB".
  void take_bytes(const char* key, std::optional<std::string>& to) {
    const Json* value = find(key);
    if (value != nullptr && value->as_unsigned()) {
      to = std::to_string(*value->as_unsigned());
    } else {
      take(key, to);
    }
  }

  /// Code::bad_input where a member was of another kind or nobody took it.
  base::Status done() const {
    if (!wrong_.empty()) return base::error(Code::bad_input, "%s", wrong_.c_str());
    for (const auto& member : *object_.as_object())
      if (!known_.contains(member.first))
        return base::error(Code::bad_input, "%s: no such argument of plan",
                           member.first.substr(0, 60).c_str());
    return {};
  }

 private:
  const Json* find(const char* key) {
    known_.insert(key);
    const Json* value = object_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void wrong(const char* key, const char* expected) {
    if (wrong_.empty()) wrong_ = std::string(key) + ": expected " + expected;
  }

  const Json& object_;
  std::set<std::string, std::less<>> known_;
  std::string wrong_;
};

void take_common(Members& members, plan::CommonOptions& options) {
  members.take("batch", options.batch);
  members.take("precision", options.precision);
  members.take("optimizer", options.optimizer);
  members.take_bytes("cap", options.cap);
  members.take_bytes("context", options.context);
  members.take("measured", options.measured);
  members.take("fit", options.fit);
}

base::Result<plan::TransformerOptions> transformer_options(const Json& arguments) {
  plan::TransformerOptions options;
  Members members(arguments);
  take_common(members, options);
  members.take("preset", options.preset);
  members.take("config", options.config);
  members.take("arch", options.architecture);
  members.take("layers", options.layers);
  members.take("d_model", options.d_model);
  members.take("heads", options.heads);
  members.take("kv_heads", options.kv_heads);
  members.take("d_ff", options.d_ff);
  members.take("vocab", options.vocab);
  members.take("max_positions", options.max_positions);
  members.take("tied", options.tied);
  members.take("untied", options.untied);
  members.take("seq", options.sequence);
  members.take("attention", options.attention);
  members.take("checkpoint", options.checkpoint);
  members.take("dropout", options.dropout);
  members.take("lora", options.lora);
  members.take("accumulate", options.accumulate);
  members.take("zero", options.zero);
  members.take("fsdp", options.fsdp);
  members.take("tp", options.tensor_parallel);
  members.take("pp", options.pipeline);
  members.take("gpus", options.gpus);
  if (const base::Status status = members.done(); !status) return status.error();
  return options;
}

base::Result<plan::NetworkOptions> network_options(const Json& arguments) {
  plan::NetworkOptions options;
  std::optional<std::string> name;
  Members members(arguments);
  take_common(members, options);
  members.take("name", name);
  members.take("channels", options.channels);
  members.take("size", options.size);
  members.take("classes", options.classes);
  if (const base::Status status = members.done(); !status) return status.error();
  if (!name) return base::error(Code::bad_input, "name: expected that of a model");
  options.name = *name;
  return options;
}

template <class Options>
base::Result<Json> answer(const base::Result<Options>& options) {
  if (!options) return options.error();
  auto request = plan::request_of(*options);
  if (!request) return request.error();
  const auto cap = plan::cap_of(*options);
  if (!cap) return cap.error();
  if (options->measured) {
    const auto recorded = plan::read_recorded_step(*options->measured);
    if (!recorded) return recorded.error();
    request = plan::corrected(*request, *recorded);
    if (!request) return request.error();
  }
  const auto planned = plan::plan(*request);
  if (!planned) return planned.error();
  Json json = to_json(*planned);
  if (*cap) {
    const auto fit = plan::fit(*request, **cap);
    if (!fit) return fit.error();
    json.set("fit", to_json(*fit));
  }
  return json;
}

}  // namespace

base::Result<Json> call_plan(const Json& arguments) {
  const Json* transformer = arguments.find("transformer");
  const Json* model = arguments.find("model");
  const Json* what = transformer != nullptr ? transformer : model;
  if (arguments.as_object()->size() != 1 || what == nullptr || !what->is_object())
    return base::error(Code::bad_input,
                       "plan: expected {\"transformer\": {…}} or {\"model\": {…}}");
  return what == transformer ? answer(transformer_options(*what)) : answer(network_options(*what));
}

}  // namespace ebb::capi
